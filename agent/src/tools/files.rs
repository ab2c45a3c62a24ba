//! What calls do to files, whatever they are called: read, write, edit; and what the model has seen of each file.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::edit::{Change, EditFault, Edited, edit};
use super::notebook::{self, Cell, CellChange};
use super::read::{Content, Media, Text, Window, read};
use super::seen::Seen;
use super::text::{decode, with_plain_ends};
use super::work::blocking;
use super::write::{LARGEST_CHANGED, Put, Written, create, write};
use crate::model::message::Part;
use crate::tools::Cx;
use crate::workspace::{Fault, Place, Stamp, Stat};

/// What was read of a file.
pub enum Shown {
    /// Lines of a text.
    Text(Text),
    /// A notebook as a whole.
    Notebook(Vec<Cell>),
    /// A picture or a document.
    Media(Media),
    /// Neither.
    Binary(Stat),
}

/// Reads a file. `notebooks`: one that is read as a whole is shown as its cells.
///
/// # Errors
/// When it cannot be read.
pub async fn read_file(path: String, window: Window, notebooks: bool, seen: &Seen, cx: &Cx<'_>) -> Result<(Place, Shown), Fault> {
    let notebook = notebooks && path.ends_with(".ipynb");
    let done = blocking(cx, move |wall, cancel| {
        let place = wall.locate(path)?;
        let window = if notebook { notebook::WINDOW } else { window };
        Ok::<_, Fault>((read(&place, &window, cancel)?, place))
    });
    let (content, place) = done.await?;
    let shown = match content {
        Content::Text(text) => {
            seen.put(place.path(), text.stamp.clone());
            match notebook.then(|| notebook::cells(&text.text)).flatten() {
                Some(cells) => Shown::Notebook(cells),
                None => Shown::Text(text),
            }
        }
        Content::Media(media) => {
            seen.put(place.path(), media.stamp.clone());
            Shown::Media(media)
        }
        Content::Binary(stat) => Shown::Binary(stat),
    };
    Ok((place, shown))
}

/// A picture or a document as the model sees it.
pub fn part(media: &Media) -> Part {
    let (media_type, data) = (media.media_type.to_owned(), BASE64_STANDARD.encode(&media.bytes));
    match media.media_type {
        "application/pdf" => Part::Document { media_type, data },
        _ => Part::Image { media_type, data },
    }
}

/// Why a file was not changed.
#[derive(Debug)]
pub enum Unchanged {
    /// The model has not read it, and has to.
    Unread,
    /// Somebody else has changed it since the model has read it.
    Modified,
    /// It is there, and was to be made.
    Exists,
    /// Nothing can be replaced so.
    Unfit(EditFault),
    /// No file can be there.
    Nowhere(Fault),
    /// Anything else.
    Fault(Fault),
}

impl From<Fault> for Unchanged {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Changed(_) => Self::Modified,
            fault => Self::Fault(fault),
        }
    }
}

impl From<EditFault> for Unchanged {
    fn from(fault: EditFault) -> Self {
        match fault {
            EditFault::File(fault) => fault.into(),
            fault => Self::Unfit(fault),
        }
    }
}

/// Writes a file as a whole; one that is there has to have been read.
///
/// # Errors
/// Why it was not written.
pub async fn write_file(path: &str, content: &str, seen: &Seen, cx: &Cx<'_>) -> Result<(Place, Written), Unchanged> {
    let place = cx.world.wall.locate(path).map_err(Unchanged::Nowhere)?;
    let known = seen.get(place.path());
    let (at, text) = (place.clone(), content.to_owned());
    let done = blocking(cx, move |_, _| match (at.stat_if_there()?, known) {
        // Somebody may just have made one.
        (None, _) => create(&at, &text).map_err(|fault| match fault {
            Fault::Exists(_) => Unchanged::Unread,
            fault => fault.into(),
        }),
        (Some(_), None) => Err(Unchanged::Unread),
        (Some(_), Some(known)) => Ok(write(&at, &text, Put::Instead, Some(&known))?),
    });
    let written = done.await?;
    seen.put(place.path(), written.stamp.clone());
    Ok((place, written))
}

/// Writes a file as a whole, whether it was read or not; one that was read and has changed since stays.
///
/// # Errors
/// When it cannot be written.
pub async fn put_file(path: &str, content: &str, seen: &Seen, cx: &Cx<'_>) -> Result<(Place, Written), Fault> {
    let place = cx.world.wall.locate(path)?;
    let known = seen.get(place.path());
    let (at, text) = (place.clone(), content.to_owned());
    let written = blocking(cx, move |_, _| {
        write(&at, &text, Put::Instead, known.as_ref().filter(|_| at.path().exists()))
    })
    .await?;
    seen.put(place.path(), written.stamp.clone());
    Ok((place, written))
}

/// Replaces a text in a file, whether it was read or not; one that was read and has changed since stays.
///
/// # Errors
/// Why it was not changed.
pub async fn change_file(path: &str, change: Change, seen: &Seen, cx: &Cx<'_>) -> Result<(Place, Edited), EditFault> {
    let place = cx.world.wall.locate(path).map_err(EditFault::File)?;
    let known = seen.get(place.path());
    let at = place.clone();
    let edited = blocking(cx, move |_, _| edit(&at, &[change], known.as_ref())).await?;
    seen.put(place.path(), edited.stamp.clone());
    Ok((place, edited))
}

/// A file before and after a change.
pub struct Changed {
    /// Which.
    pub place: Place,
    /// Its text before, with `\n` at the ends of its lines; `None` if the change made it.
    pub before: Option<String>,
    /// Its text now.
    pub after: String,
}

/// Replaces a text in a file, which has to have been read. An empty old text makes a new file; with `fills` also one that is empty gets
/// the text.
///
/// # Errors
/// Why it was not changed.
pub async fn edit_file(path: &str, change: Change, fills: bool, seen: &Seen, cx: &Cx<'_>) -> Result<Changed, Unchanged> {
    let place = cx.world.wall.locate(path).map_err(Unchanged::Nowhere)?;
    let known = seen.get(place.path());
    let at = place.clone();
    let done = blocking(cx, move |_, _| -> Result<(Option<String>, String, Stamp), Unchanged> {
        let there = at.stat_if_there()?;
        if change.old.is_empty() {
            let written = match there {
                None => create(&at, &change.new)?,
                Some(stat) if fills && stat.size == 0 => write(&at, &change.new, Put::Instead, known.as_ref())?,
                Some(_) => return Err(Unchanged::Exists),
            };
            return Ok((None, with_plain_ends(&change.new), written.stamp));
        }
        if there.is_none() {
            return Err(Fault::Missing(at.named().to_owned()).into());
        }
        let known = known.ok_or(Unchanged::Unread)?;
        let edited = edit(&at, &[change], Some(&known))?;
        Ok((Some(edited.before), edited.after, edited.stamp))
    });
    let (before, after, stamp) = done.await?;
    seen.put(place.path(), stamp);
    Ok(Changed { place, before, after })
}

/// Changes a cell of a notebook, which has to have been read. The file, its text before, and what was done; or why that cannot be, for the model.
///
/// # Errors
/// Why the file was not changed.
pub async fn edit_notebook(
    path: &str,
    change: CellChange,
    seen: &Seen,
    cx: &Cx<'_>,
) -> Result<Result<(Place, String, notebook::Changed), String>, Unchanged> {
    let place = cx.world.wall.locate(path).map_err(Unchanged::Nowhere)?;
    let known = seen.get(place.path());
    let at = place.clone();
    let done = blocking(cx, move |_, _| -> Result<_, Unchanged> {
        let (bytes, _) = at.read(LARGEST_CHANGED)?;
        let known = known.ok_or(Unchanged::Unread)?;
        let Some(before) = decode(&bytes).filter(|text| !text.lossy) else {
            return Ok(Err(notebook::UNSOUND.to_owned()));
        };
        Ok(match notebook::changed(&before.text, &change) {
            Ok(done) => Ok((before.text, write(&at, &done.text, Put::Instead, Some(&known))?, done)),
            Err(why) => Err(why),
        })
    });
    Ok(done.await?.map(|(before, written, done)| {
        seen.put(place.path(), written.stamp);
        (place, before, done)
    }))
}
