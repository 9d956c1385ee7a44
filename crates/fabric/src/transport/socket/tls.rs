//! TCP protected by TLS 1.3 (RFC 8446) with raw public keys (RFC 7250): `tls!HOST!PORT`.
//!
//! Both ends show an Ed25519 key and prove that it is theirs; each looks it up in its membership
//! list, which says whose it is. Nothing is negotiated down: one version, one key exchange, two
//! ciphers, no resumption, so no ticket outlives a revocation. The hello comes inside, so nobody
//! on the way reads or changes it, and its name has to be the member's ([`super::Member`]).
//!
//! | what is wrong | the connector is told | the listener |
//! |---|---|---|
//! | the connector's key is not in the list | refused: not in its membership list | goes on |
//! | the listener's key is not in the list | untrusted: not in the membership list | goes on |
//! | the hello has another member's name | refused: whose key it is | goes on |
//! | it speaks no TLS | malformed | goes on |
//! | the handshake does not end | its deadline | `HELLO_TIME` of the limits |
//!
//! The transport is one of keys, so programs make it; [`crate::transport::of`] knows none.

use super::connect::Line;
use super::identity::{Identity, Members, PublicKey};
use super::listener::Door;
use super::pump::{Ends, Tunnel};
use super::session::Session;
use super::{capabilities, connect, foreign, option};
use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::transport::{Adapter, Capabilities, Hello, Lane, Listener, Protection, Transport};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption, UnbufferedClientConnection};
use rustls::crypto::ring::{cipher_suite, default_provider, kx_group};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{
    AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage, UnbufferedServerConnection,
};
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, PeerIncompatible,
    ServerConfig, SignatureScheme,
};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// TCP with TLS, of one identity.
#[derive(Clone, Debug)]
pub struct Tls {
    keys: Arc<Keys>,
}

impl Tls {
    /// Connections as this member, with those of the list as it is when they are made.
    pub fn new(identity: &Identity, members: &Members) -> Tls {
        Tls { keys: Arc::new(Keys::new(identity, members)) }
    }

    /// A protected connection on which no hello was said, for those who try doors with other words.
    ///
    /// # Errors
    /// As [`Transport::connect`].
    #[cfg(feature = "conformance")]
    pub fn raw(&self, to: &Address, deadline: Deadline) -> Result<std::os::unix::net::UnixStream> {
        let Address::Tls(host, port) = to else { return Err(foreign(to)) };
        let hello = Hello { name: "raw".into(), service: String::new(), lane: Lane::Bulk };
        let tcp = connect::tcp(to, host, *port, &hello, deadline)?;
        let line = self.keys.line_to(tcp)?;
        let stream = std::os::unix::net::UnixStream::from(line.socket);
        stream.set_nonblocking(false).map_err(|error| Error::io("using a socket", error))?;
        Ok(stream)
    }
}

impl Transport for Tls {
    fn scheme(&self) -> &'static str {
        "tls"
    }

    fn capabilities(&self) -> Capabilities {
        capabilities(true, Protection::Tls)
    }

    fn listen(&self, at: &Address) -> Result<Box<dyn Listener>> {
        let Address::Tls(host, port) = at else { return Err(foreign(at)) };
        Ok(Box::new(Door::tls(host, *port, self.keys.clone())?))
    }

    fn connect(&self, to: &Address, hello: &Hello, deadline: Deadline) -> Result<Box<dyn Adapter>> {
        hello.check()?;
        let Address::Tls(host, port) = to else { return Err(foreign(to)) };
        let tcp = connect::tcp(to, host, *port, hello, deadline)?;
        Ok(Box::new(connect::greet(self.keys.line_to(tcp)?, to, hello, deadline)?))
    }
}

/// What handshakes are made with.
#[derive(Debug)]
pub struct Keys {
    pub(super) client: Arc<ClientConfig>,
    pub(super) server: Arc<ServerConfig>,
    members: Members,
}

impl Keys {
    pub(super) fn new(identity: &Identity, members: &Members) -> Keys {
        let provider = Arc::new(CryptoProvider {
            cipher_suites: vec![
                cipher_suite::TLS13_AES_256_GCM_SHA384,
                // For processors without instructions for AES.
                cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
            ],
            kx_groups: vec![kx_group::X25519],
            ..default_provider()
        });
        let algorithms = provider.signature_verification_algorithms;
        let pinned = Arc::new(Pinned { members: members.clone(), algorithms });
        let shown = vec![CertificateDer::from(identity.public_key().info())];
        let own = Arc::new(CertifiedKey::new(shown, identity.signer()));
        let mut client = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&TLS13])
            .expect("the ciphers are of this version")
            .dangerous()
            .with_custom_certificate_verifier(pinned.clone())
            .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(
                own.clone(),
            )));
        client.resumption = Resumption::disabled();
        client.enable_sni = false;
        client.enable_secret_extraction = true;
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .expect("the ciphers are of this version")
            .with_client_cert_verifier(pinned)
            .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(own)));
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        server.enable_secret_extraction = true;
        Keys { client: Arc::new(client), server: Arc::new(server), members: members.clone() }
    }

    /// Protects a connection that we have made.
    fn line_to(&self, tcp: OwnedFd) -> Result<Line> {
        Ok(self.line(tcp, self.session_to()?, Ends::new(Lane::Bulk)?))
    }

    /// The connector's side.
    pub(super) fn session_to(&self) -> Result<Session> {
        // No name is looked at: the key says who it is.
        let name = ServerName::try_from("muster").expect("a name");
        let connection = UnbufferedClientConnection::new(self.client.clone(), name);
        Ok(Session::client(connection.map_err(broken)?))
    }

    /// The listener's side.
    pub(super) fn session_from(&self) -> Result<Session> {
        let connection = UnbufferedServerConnection::new(self.server.clone());
        Ok(Session::server(connection.map_err(broken)?))
    }

    /// What the next connection that is made to us needs, whatever its lane.
    pub fn expect(&self) -> Result<Expected> {
        Ok(Expected { session: self.session_from()?, ends: Ends::new(Lane::System)? })
    }

    /// Protects a connection that was made to us.
    pub fn line_from(&self, tcp: OwnedFd, expected: Expected) -> Line {
        // Nobody knows its lane yet; if it is another one, that is set up when it enters it. Who
        // has gone again is found out later.
        let _ = option::tcp(tcp.as_fd(), Lane::Bulk);
        self.line(tcp, expected.session, expected.ends)
    }

    fn line(&self, tcp: OwnedFd, session: Session, ends: Ends) -> Line {
        let is_here = option::is_loopback(tcp.as_fd());
        let (socket, tunnel) = Tunnel::open(tcp, session, self.members.clone(), ends);
        Line { socket, tunnel: Some(tunnel), is_here, protection: Protection::Tls }
    }
}

/// What a connection over TLS is made of, before there is one.
#[derive(Debug)]
pub struct Expected {
    session: Session,
    ends: Ends,
}

/// The only such error is that of a system without random numbers.
fn broken(error: rustls::Error) -> Error {
    Error::Exhausted { what: "random numbers", source: std::io::Error::other(error) }
}

/// Trusts the keys of the list.
#[derive(Debug)]
struct Pinned {
    members: Members,
    algorithms: WebPkiSupportedAlgorithms,
}

type Verified<T> = std::result::Result<T, rustls::Error>;

impl Pinned {
    fn check(&self, shown: &CertificateDer<'_>) -> Verified<()> {
        let member = PublicKey::read(shown).and_then(|key| self.members.find(key));
        // The alert that goes with it says that access is denied.
        let unknown = CertificateError::ApplicationVerificationFailure;
        member.map(drop).ok_or(unknown.into())
    }

    fn prove(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        proof: &DigitallySignedStruct,
    ) -> Verified<HandshakeSignatureValid> {
        let key = SubjectPublicKeyInfoDer::from(shown.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, proof, &self.algorithms)
    }
}

/// What both sides ask of the other alike: the proof that it has the key it shows.
macro_rules! proofs {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Verified<HandshakeSignatureValid> {
            Err(PeerIncompatible::Tls12NotOffered.into())
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            shown: &CertificateDer<'_>,
            proof: &DigitallySignedStruct,
        ) -> Verified<HandshakeSignatureValid> {
            self.prove(message, shown, proof)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }

        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Verified<ServerCertVerified> {
        self.check(shown).map(|()| ServerCertVerified::assertion())
    }

    proofs!();
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Verified<ClientCertVerified> {
        self.check(shown).map(|()| ClientCertVerified::assertion())
    }

    proofs!();
}
