//! Writing files: whole or not at all, and never more than was asked for.
//!
//! A regular file is written under another name beside it and then takes its name, with the mode and owner of the file it
//! replaces. Symbolic links are followed. Devices, pipes, files with several names and files whose owner or folder
//! does not allow that are written through. What is read-only is refused, whoever asks.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// How a file under its temporary name ends.
const UNFINISHED: &str = ".tmp";
/// Random letters in a temporary name.
const LETTERS: usize = 6;
/// Symbolic links followed before they are taken for a circle, as the system does.
const LINKS: usize = 40;
/// An unfinished file that is empty may be a moment old and not yet locked; one of this age is not.
const MOMENT: Duration = Duration::from_secs(60);

/// Held by everyone who writes a file, and alone by who wants no file to be half-written.
static WRITING: RwLock<()> = RwLock::new(());

/// Does something while no file of this process is being written, such as ending it; waits for those that are.
pub fn between_writes<R>(act: impl FnOnce() -> R) -> R {
    let _alone = WRITING.write().unwrap_or_else(PoisonError::into_inner);
    act()
}

/// Writes a file; a regular one shows the new content only when all of it is there.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let _writing = WRITING.read().unwrap_or_else(PoisonError::into_inner);
    let fail = |e| Error::io(path, e);
    match Target::of(path)? {
        Target::Through { file } => write_through(&file, write).map_err(fail),
        Target::Replace { file, folder, old } => {
            remove_unfinished(&file, &folder);
            match unfinished(&file, &folder, old.as_ref()) {
                Ok(temporary) => replace(temporary, &file, write).map_err(fail),
                // Its owner cannot be kept, or its folder takes no new file: the old one is ours to write all the same.
                Err(_) if old.is_some() => write_through(&file, write).map_err(fail),
                Err(error) => Err(fail(error)),
            }
        }
    }
}

/// Refuses a name that [`write_file`] could not write to, without touching what holds it: to be asked before long work.
pub fn check_output(path: &Path) -> Result<()> {
    let fail = |e| Error::io(path, e);
    match Target::of(path)? {
        // Opening a pipe would wait for its reader.
        Target::Through { file } if !file.is_file() => Ok(()),
        Target::Through { file } | Target::Replace { file, old: Some(_), .. } => {
            OpenOptions::new().write(true).open(file).map(drop).map_err(fail)
        }
        Target::Replace { folder, old: None, .. } => {
            tempfile::tempfile_in(folder).map(drop).map_err(fail)
        }
    }
}

/// Whether two names stand for one regular file, through links of any kind, or would if it existed.
pub fn same_file(a: &Path, b: &Path) -> bool {
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(first), Ok(second)) => {
            first.is_file() && second.is_file() && identity(a, &first) == identity(b, &second)
        }
        (Err(_), Err(_)) => match (Target::of(a), Target::of(b)) {
            (
                Ok(Target::Replace { file: a, folder: first, .. }),
                Ok(Target::Replace { file: b, folder: second, .. }),
            ) => {
                a.file_name() == b.file_name()
                    && fs::canonicalize(first).ok() == fs::canonicalize(second).ok()
            }
            _ => false,
        },
        _ => false,
    }
}

/// What holds a name, and so how it is written to.
enum Target {
    /// Written where it is.
    Through { file: PathBuf },
    /// Written beside, then renamed.
    Replace { file: PathBuf, folder: PathBuf, old: Option<Metadata> },
}

impl Target {
    fn of(path: &Path) -> Result<Self> {
        let old = match fs::metadata(path) {
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(Error::io(path, error));
            }
            // Nothing is there; whether something can be shows below.
            Err(_) => None,
        };
        if let Some(old) = &old {
            if old.is_dir() {
                return Err(Error::file(path, "is a folder, not a file to write"));
            }
            if old.permissions().readonly() {
                return Err(Error::file(path, "is read-only"));
            }
            // What the system shows as files under these names, such as /dev/stdout, is open elsewhere.
            let of_the_system = path.starts_with("/dev") || path.starts_with("/proc");
            if !old.is_file() || of_the_system || has_other_names(old) {
                return Ok(Self::Through { file: path.into() });
            }
        }
        let file = follow(path)?;
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        if !folder.is_dir() {
            let problem = format!("there is no folder '{}' to write it in", folder.display());
            return Err(Error::file(path, problem));
        }
        let named_as_folder = file.as_os_str().as_encoded_bytes().ends_with(b"/");
        if file.file_name().is_none() || named_as_folder {
            return Err(Error::file(path, "is not the name of a file"));
        }
        Ok(Self::Replace { file, folder, old })
    }
}

/// The name at the end of a chain of symbolic links, whether or not something holds it.
fn follow(path: &Path) -> Result<PathBuf> {
    let mut file = path.to_path_buf();
    for _ in 0..LINKS {
        match fs::read_link(&file) {
            Ok(next) => file = file.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(file),
        }
    }
    Err(Error::file(path, "its symbolic links go in a circle"))
}

fn write_through(
    file: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let regular = file.is_file();
    let mut out = BufWriter::new(OpenOptions::new().write(true).truncate(regular).open(file)?);
    write(&mut out)?;
    out.flush()?;
    if regular { out.get_ref().sync_all() } else { Ok(()) }
}

fn replace(
    mut temporary: NamedTempFile,
    file: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(temporary.as_file_mut());
    write(&mut out)?;
    out.flush()?;
    drop(out);
    temporary.as_file().sync_all()?;
    temporary.persist(file).map(drop).map_err(|e| e.error)
}

/// An empty file beside the one it will replace, named after it, locked as long as it is written.
fn unfinished(file: &Path, folder: &Path, old: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let prefix = prefix(file);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(UNFINISHED).rand_bytes(LETTERS);
    // Temporary files are private by default; a new file gets what the umask allows.
    #[cfg(unix)]
    if old.is_none() {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let temporary = builder.tempfile_in(folder)?;
    // Where locks are not to be had, what a killed program leaves stays.
    let _ = temporary.as_file().try_lock();
    if let Some(old) = old {
        keep_owner(temporary.as_file(), old)?;
        temporary.as_file().set_permissions(old.permissions())?;
    }
    Ok(temporary)
}

/// How temporary names of a file begin; long names are cut, because the system takes 255 bytes.
fn prefix(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    format!(".{}.", name.chars().take(60).collect::<String>())
}

/// Removes what programs that were killed left of earlier attempts to write this file. Those at work hold a lock.
fn remove_unfinished(file: &Path, folder: &Path) {
    let prefix = prefix(file);
    let is_unfinished = |name: &str| {
        name.strip_prefix(&prefix)
            .and_then(|rest| rest.strip_suffix(UNFINISHED))
            .is_some_and(|letters| letters.len() == LETTERS && letters.is_ascii())
    };
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(is_unfinished) && is_abandoned(&entry.path()) {
            // Someone else may have removed it, or may have to: the new file is written all the same.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_abandoned(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let Ok(metadata) = file.metadata() else { return false };
    let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
    let fresh = metadata.len() == 0 && age.is_none_or(|age| age < MOMENT);
    metadata.is_file() && !fresh && file.try_lock().is_ok()
}

#[cfg(unix)]
fn has_other_names(file: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(file) > 1
}

#[cfg(not(unix))]
fn has_other_names(_file: &Metadata) -> bool {
    false
}

#[cfg(unix)]
fn identity(_path: &Path, file: &Metadata) -> impl PartialEq + use<> {
    use std::os::unix::fs::MetadataExt;
    (file.dev(), file.ino())
}

#[cfg(not(unix))]
fn identity(path: &Path, _file: &Metadata) -> impl PartialEq + use<> {
    fs::canonicalize(path).ok()
}

#[cfg(unix)]
fn keep_owner(new: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let found = new.metadata()?;
    if (found.uid(), found.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    fchown(new, Some(old.uid()), Some(old.gid()))
}

#[cfg(not(unix))]
fn keep_owner(_new: &File, _old: &Metadata) -> io::Result<()> {
    Ok(())
}
