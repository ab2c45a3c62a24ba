//! Files that somebody else put there: read without waiting for anything, and never more of them than asked for.
//!
//! What a folder holds under a name that we look for may be a pipe that nobody writes to, a device, or a file with a terabyte of nothing. So
//! the kind is looked at before the file is opened (to open a device may already do something), the file is opened without waiting, and
//! the kind is looked at again on what was opened.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Opens a regular file to read it. Links are followed.
///
/// # Errors
/// The system's; [`ErrorKind::IsADirectory`] for a folder, [`ErrorKind::InvalidInput`] for anything else that is no regular file.
pub fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    regular(&std::fs::metadata(path)?)?;
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let about = file.metadata()?;
    regular(&about)?;
    Ok((file, about))
}

/// Reads a regular file of at most so many bytes.
///
/// # Errors
/// As for [`open_regular`], and [`ErrorKind::FileTooLarge`] when it has more.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, about) = open_regular(path)?;
    if about.len() > most {
        return Err(too_large(most));
    }
    up_to(file, most)
}

/// The same for a file that has to be text in UTF-8.
///
/// # Errors
/// As for [`read_regular`], and [`ErrorKind::InvalidData`] when it is no UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    text(read_regular(path, most)?)
}

/// Reads what the user named themselves, which may be a pipe (`<(…)` of a shell) and is waited for, up to so many bytes.
///
/// # Errors
/// As for [`read_text`], except that any kind of file will do.
pub fn read_named_text(path: &Path, most: u64) -> io::Result<String> {
    text(up_to(File::open(path)?, most)?)
}

/// Makes sure that [`write_named`] can write this file later, which is made if it is not there and keeps what is in it. A pipe may get its reader later.
///
/// # Errors
/// The system's.
pub fn open_named(path: &Path) -> io::Result<()> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    match opened {
        Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => Ok(()),
        opened => opened.map(drop),
    }
}

/// Writes what the user wants in a file that they named themselves, which may be a pipe: whoever should read it has so long.
///
/// # Errors
/// The system's; for a pipe that nobody reads, [`ErrorKind::TimedOut`] or that there is no such device.
pub fn write_named(path: &Path, mut bytes: &[u8], patience: Duration) -> io::Result<()> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let until = Instant::now() + patience;
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock && Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(ErrorKind::TimedOut.into()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads the rest of a file, of at most so many bytes, whatever its size is said to be.
fn up_to(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return Err(too_large(most));
    }
    Ok(content)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is no UTF-8 text"))
}

fn too_large(most: u64) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {most} bytes"))
}

fn regular(about: &Metadata) -> io::Result<()> {
    let kind = about.file_type();
    let what = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "it is a directory, not a regular file"));
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(io::Error::new(ErrorKind::InvalidInput, format!("it is {what}, not a regular file")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_that_nobody_reads_is_not_waited_for() {
        let room = tempfile::tempdir().unwrap();
        let pipe = room.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        let patience = Duration::from_millis(50);
        assert!(write_named(&pipe, b"words", patience).is_err());
        open_named(&pipe).unwrap();
        let reader = OpenOptions::new()
            .read(true)
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
            .open(&pipe)
            .unwrap();
        write_named(&pipe, b"words", patience).unwrap();
        let full = write_named(&pipe, &vec![b'x'; 1 << 20], patience).unwrap_err();
        assert_eq!(full.kind(), ErrorKind::TimedOut);
        drop(reader);
        let file = room.path().join("file");
        std::fs::write(&file, "something longer").unwrap();
        open_named(&file).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"something longer");
        open_named(&room.path().join("new")).unwrap();
        assert!(room.path().join("new").exists() && open_named(room.path()).is_err());
        write_named(&file, b"words", patience).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"words");
    }

    #[test]
    fn only_regular_files_of_a_size_are_read_and_nothing_is_waited_for() {
        let room = tempfile::tempdir().unwrap();
        let path = |name: &str| room.path().join(name);
        std::fs::write(path("text"), "grün").unwrap();
        std::fs::write(path("bytes"), [0xff]).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), rustix::fs::Mode::RWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        File::create(path("huge")).unwrap().set_len(1 << 42).unwrap();
        for (link, to) in [("to-text", "text"), ("to-pipe", "pipe"), ("to-zero", "/dev/zero"), ("loop", "loop")] {
            std::os::unix::fs::symlink(to, path(link)).unwrap();
        }
        assert_eq!(read_text(&path("text"), 5).unwrap(), "grün");
        assert_eq!(read_text(&path("to-text"), 5).unwrap(), "grün");
        for (name, kind) in [
            ("text", ErrorKind::FileTooLarge),
            ("huge", ErrorKind::FileTooLarge),
            ("bytes", ErrorKind::InvalidData),
            ("pipe", ErrorKind::InvalidInput),
            ("to-pipe", ErrorKind::InvalidInput),
            ("to-zero", ErrorKind::InvalidInput),
            ("socket", ErrorKind::InvalidInput),
            (".", ErrorKind::IsADirectory),
            ("none", ErrorKind::NotFound),
        ] {
            assert_eq!(read_text(&path(name), 4).unwrap_err().kind(), kind, "{name}");
        }
        assert!(read_text(&path("loop"), 4).is_err());
        // Named by the user: of any kind, but no more than so much.
        assert_eq!(read_named_text(&path("to-zero"), 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
