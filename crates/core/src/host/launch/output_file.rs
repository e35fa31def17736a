//! Files that commands write: replaced once all is written, or written into where there is nothing to replace.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Links that lead to a file at most: as many as Linux follows.
const LINKS_MAX: usize = 40;

/// The output of a command. A file, or none yet, is replaced once all is written ([`OutputFile::finish`]); dropped before that it leaves
/// what was there. A device, a pipe or a socket is no file that another could take the place of, and gets the bytes as they come.
#[derive(Debug)]
pub(super) struct OutputFile {
    out: File,
    /// The file in which the bytes are until then, and the one that it becomes.
    replacing: Option<(PathBuf, PathBuf)>,
}

impl OutputFile {
    /// Begins the output at `path`, or where its links lead; a new file has the mode `mode`, less what the process masks.
    ///
    /// # Errors
    /// As the operating system.
    pub(super) fn create(path: &Path, mode: u32) -> io::Result<Self> {
        let Some(target) = replaced_by(path)? else {
            // What is redirected to the end of a file goes there.
            let out = OpenOptions::new().append(true).open(path)?;
            return Ok(Self { out, replacing: None });
        };
        let name = target.file_name().ok_or(ErrorKind::IsADirectory)?;
        let beside =
            target.with_file_name([name, ".part".as_ref()].into_iter().collect::<OsString>());
        let mut options = OpenOptions::new();
        options.create_new(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
        #[cfg(not(unix))]
        let _ = mode;
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let out = options.open(&beside)?;
        Ok(Self { out, replacing: Some((beside, target)) })
    }

    /// Puts all of it in its place.
    ///
    /// # Errors
    /// As the operating system.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let Some((beside, target)) = &self.replacing else {
            return Ok(());
        };
        self.out.sync_all()?;
        fs::rename(beside, target)?;
        self.replacing = None;
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some((beside, _)) = &self.replacing {
            let _ = fs::remove_file(beside);
        }
    }
}

/// The file at a path, through its links, that another may take the place of, whether or not it is there; `None` for what is none, such
/// as a device.
///
/// # Errors
/// As the operating system.
pub(super) fn replaced_by(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut path = path.to_owned();
    for _ in 0..=LINKS_MAX {
        // An output that this process has open already, such as /dev/stdout, is no file of that name.
        if folder_of(&path).canonicalize().is_ok_and(|folder| folder.starts_with("/proc")) {
            return Ok(None);
        }
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Some(path)),
            Err(error) => return Err(error),
            Ok(found) if found.is_symlink() => {
                path = folder_of(&path).join(fs::read_link(&path)?);
            }
            Ok(found) => return Ok((found.is_file()).then_some(path)),
        }
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "its links lead nowhere"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn written(path: &Path, text: &str) -> io::Result<()> {
        let mut out = OutputFile::create(path, 0o600)?;
        out.write_all(text.as_bytes())?;
        out.finish()
    }

    #[test]
    fn a_file_is_replaced_whole_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "before").unwrap();
        let mut out = OutputFile::create(&path, 0o600).unwrap();
        out.write_all(b"half").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"before");
        drop(out);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "what was given up is gone");
        written(&path, "after").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"after");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn links_stay_and_their_target_is_written_whether_or_not_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let (link, outer) = (folder.path().join("link"), folder.path().join("outer"));
        symlink("target", &link).unwrap();
        symlink(&link, &outer).unwrap();
        for text in ["first", "second"] {
            written(&outer, text).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert!(fs::symlink_metadata(&outer).unwrap().is_symlink());
            assert_eq!(fs::read(folder.path().join("target")).unwrap(), text.as_bytes());
        }
        let circle = folder.path().join("circle");
        symlink("circle", &circle).unwrap();
        assert!(written(&circle, "text").is_err());
    }

    #[cfg(feature = "sled")]
    #[test]
    fn a_device_and_a_pipe_are_written_into_and_stay_what_they_are() {
        use std::io::Read as _;
        use std::os::unix::fs::FileTypeExt as _;
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let opened = pipe.clone();
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            File::open(opened).unwrap().read_to_string(&mut text).unwrap();
            text
        });
        written(&pipe, "text").unwrap();
        assert_eq!(reader.join().unwrap(), "text");
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
        let null = folder.path().join("null");
        symlink("/dev/null", &null).unwrap();
        written(&null, "text").unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }
}
