//! What a rank sees of a file, as the program says it (MPI-5.0, sections 14.3 and 14.5).

use std::sync::{Mutex, PoisonError};

use muster_mpi::datatype::Datatype;
use muster_mpi::error::{Class, Error, Result};
use muster_mpi::file::View;

use super::{Form, file, woven};
use crate::abi::constants::*;
use crate::abi::types::*;
use crate::buffer::{Elements, committed};
use crate::communicator::{all_say, all_say_aside};
use crate::datatype;
use crate::export::{both, export};
use crate::info;
use crate::pointer::{Address, Out, Text, TextOut};

/// Names that the program has given to ways of its own, and whether it converts data by functions:
/// files are not read and written so. They are there for good.
static OWN: Mutex<Vec<(&str, bool)>> = Mutex::new(Vec::new());

/// Adds one.
fn register(name: Text<'_>, is_converted: bool) -> Result<()> {
    let name = name.text()?;
    if name.len() >= MPI_MAX_DATAREP_STRING as usize {
        let (length, most) = (name.len(), MPI_MAX_DATAREP_STRING - 1);
        let what = format!("the name has {length} bytes, and {most} are the most");
        return Err(Error::new(Class::Arg, what).of("datarep"));
    }
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut known = FORMS.iter().map(|form| form.name()).chain(own.iter().map(|(it, _)| *it));
    if known.any(|it| it == name) {
        let what = format!("there is a data representation '{name}' already");
        return Err(Error::new(Class::DupDatarep, what));
    }
    own.push((name.leak(), is_converted));
    Ok(())
}

/// How data may be stored, whatever the program.
const FORMS: [Form; 3] = [Form::Native, Form::Internal, Form::External];

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Native => "native",
            Form::Internal => "internal",
            Form::External => "external32",
            Form::Own(name) => name,
        }
    }

    /// The form of a name. Those that the standard has are known in capitals, too, as programs in
    /// Fortran have them and others take them.
    ///
    /// # Errors
    /// [`Class::UnsupportedDatarep`].
    fn of(name: &str) -> Result<Form> {
        let wrong = |what| Err(Error::new(Class::UnsupportedDatarep, what));
        let own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        match own.iter().find(|(it, _)| *it == name) {
            Some((name, false)) => return Ok(Form::Own(name)),
            Some((_, true)) => {
                return wrong(format!("files are not converted by the functions of '{name}'"));
            }
            None => {}
        }
        match FORMS.into_iter().find(|form| form.name().eq_ignore_ascii_case(name)) {
            Some(form) => Ok(form),
            None => wrong(format!("'{name}' is none of native, internal and external32")),
        }
    }

    /// Where the data of a datatype lie in the file.
    fn served(self, datatype: &Datatype) -> Result<Datatype> {
        if self == Form::External { datatype.served() } else { Ok(datatype.clone()) }
    }

    /// How many bytes elements have there.
    pub(super) fn size(self, elements: &Elements) -> Result<usize> {
        match self {
            Form::External => elements.datatype().external_size(elements.count()),
            _ => Ok(elements.size()),
        }
    }
}

export! {
    /// Sets what a rank sees, and its pointers to the beginning.
    fn MPI_File_set_view(
        fh: MPI_File, disp: MPI_Offset, etype: MPI_Datatype, filetype: MPI_Datatype,
        datarep: Text<'_>, hints: MPI_Info,
    ) on fh {
        let (file, hints) = (file(fh)?, info::infos(hints));
        if file.is(MPI_MODE_SEQUENTIAL) {
            // `MPI_DISPLACEMENT_CURRENT` is where the shared pointer is when all have come.
            all_say(&file.comm, &[])?;
        }
        let made = committed(etype).and_then(|etype| {
            let form = Form::of(&datarep.text()?)?;
            let filetype = committed(filetype)?;
            let of_file = (form.served(&etype)?, form.served(&filetype)?);
            let disp = match disp {
                // Such files have the shared pointer alone.
                MPI_DISPLACEMENT_CURRENT if file.is(MPI_MODE_SEQUENTIAL) => {
                    let position = file.advance_shared(0)?;
                    file.state().view.byte(position).cast_signed()
                }
                disp => disp,
            };
            let is_written = !file.is(MPI_MODE_RDONLY);
            hints?;
            let view = View::new(disp, of_file.0, of_file.1, is_written)?;
            Ok((view, (etype, filetype), form))
        });
        let (view, types, form) = file.together(made)?;
        file.shared.set(0);
        let own = [woven::is_scattered(&view), file.is_coherent()].map(i32::from);
        let mut state = file.state();
        (state.view, state.form, state.position) = (view, form, 0);
        state.types = types;
        drop(state);
        // All are here then, and none goes on before the shared pointer is set. What nodes see of
        // the file follows from where ranks are: that is no part of what the program does.
        let said = all_say_aside(&file.comm, &own)?;
        let is_scattered = said.iter().any(|said| said[0] != 0);
        file.state().is_woven = is_scattered && said.iter().all(|said| said[1] != 0);
        Ok(())
    }

    /// What it sees. The datatypes are the caller's to free, where they are not predefined.
    fn MPI_File_get_view(
        fh: MPI_File, disp: Out<MPI_Offset>, etype: Out<MPI_Datatype>,
        filetype: Out<MPI_Datatype>, datarep: TextOut,
    ) on fh {
        let file = file(fh)?;
        let state = file.state();
        disp.set(state.view.displacement().cast_signed())?;
        etype.set(datatype::handle(&state.types.0))?;
        filetype.set(datatype::handle(&state.types.1))?;
        datarep.set(state.form.name().as_bytes(), MPI_MAX_DATAREP_STRING).map(|_| ())
    }

    /// Makes a way to store data known.
    fn MPI_Register_datarep(
        datarep: Text<'_>, read: Option<MPI_Datarep_conversion_function>,
        write: Option<MPI_Datarep_conversion_function>,
        extent: Option<MPI_Datarep_extent_function>, extra: Address,
    ) on MPI_FILE_NULL {
        // What is not converted has the extents that it has in memory.
        let _ = (extent, extra);
        register(datarep, read.is_some() || write.is_some())
    }

    /// The same, by functions that take large counts.
    fn MPI_Register_datarep_c(
        datarep: Text<'_>, read: Option<MPI_Datarep_conversion_function_c>,
        write: Option<MPI_Datarep_conversion_function_c>,
        extent: Option<MPI_Datarep_extent_function>, extra: Address,
    ) on MPI_FILE_NULL {
        // What is not converted has the extents that it has in memory.
        let _ = (extent, extra);
        register(datarep, read.is_some() || write.is_some())
    }

    /// Which byte of the file is at an offset.
    fn MPI_File_get_byte_offset(fh: MPI_File, offset: MPI_Offset, disp: Out<MPI_Offset>) on fh {
        let file = file(fh)?;
        file.random()?;
        let state = file.state();
        let position = state.view.position(offset)?;
        disp.set(state.view.byte(position).cast_signed())
    }
}

both! {
    /// From one element of a datatype to the next in the file.
    fn MPI_File_get_type_extent or MPI_File_get_type_extent_c(
        fh: MPI_File, datatype: MPI_Datatype, extent: Out<A>,
    ) on fh {
        let (file, datatype) = (file(fh)?, datatype::datatype(datatype)?);
        let form = file.state().form;
        extent.set(form.served(&datatype)?.extent() as A)
    }
}
