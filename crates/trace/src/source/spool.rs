//! Temporary files for inputs that are read more than once. Without the feature `spool`, they are an error.

#[cfg(feature = "spool")]
mod on_disk {
    use std::fs::File;
    use std::io::{self, Read, Write};
    use std::path::Path;
    use std::sync::Arc;

    /// A temporary file, which exists on disk until its last copy is dropped.
    #[derive(Clone, Debug)]
    pub(crate) struct Spool(Arc<tempfile::TempPath>);

    impl Spool {
        /// The content of `pipe` in a temporary file.
        pub fn of(pipe: &mut dyn Read) -> io::Result<Spool> {
            let mut spool = tempfile::Builder::new().prefix("wordline-").tempfile()?;
            io::copy(pipe, spool.as_file_mut()).map_err(|e| {
                let wrote = spool.as_file().metadata().map_or(0, |file| file.len());
                io::Error::new(e.kind(), format!("{e}, after {wrote} bytes"))
            })?;
            spool.as_file_mut().flush()?;
            Ok(Spool(Arc::new(spool.into_temp_path())))
        }

        pub fn path(&self) -> &Path {
            &self.0
        }
    }

    /// A temporary file without a name.
    pub(crate) fn scratch() -> io::Result<File> {
        tempfile::tempfile()
    }
}

#[cfg(not(feature = "spool"))]
mod nowhere {
    use std::convert::Infallible;
    use std::fs::File;
    use std::io::{self, Read};
    use std::path::Path;

    /// A temporary file, which does not exist without the feature.
    #[derive(Clone, Debug)]
    pub(crate) struct Spool(Infallible);

    impl Spool {
        pub fn of(_pipe: &mut dyn Read) -> io::Result<Spool> {
            Err(none())
        }

        pub fn path(&self) -> &Path {
            match self.0 {}
        }
    }

    pub(crate) fn scratch() -> io::Result<File> {
        Err(none())
    }

    fn none() -> io::Error {
        io::Error::new(
            io::ErrorKind::Unsupported,
            "this build has no temporary files (feature `spool` of wordline-workload)",
        )
    }
}

#[cfg(not(feature = "spool"))]
pub(crate) use nowhere::{Spool, scratch};
#[cfg(feature = "spool")]
pub(crate) use on_disk::{Spool, scratch};
