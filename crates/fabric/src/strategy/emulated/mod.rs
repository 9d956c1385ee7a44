//! Strategies over other strategies, where a transport lacks them.
