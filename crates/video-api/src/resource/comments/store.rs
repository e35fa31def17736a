//! Putting, changing and removing comments with all that follows from them: lists, words, counters.
//!
//! `shard` is the row of each [`tally`] that the transaction changes ([`tally::shard`]).

use triptych_core::kv::{Plan, Tx};

use crate::api::error::Error;
use crate::record::cascade::{self, Cascade};
use crate::record::key_order::latest_first;
use crate::resource::activities::record as activities;
use crate::resource::channels::record::CHANNELS;
use crate::resource::comments::moderation::Moderation;
use crate::resource::comments::record::{
    COMMENTS, Comment, EVERY_STATE, RELEVANT_THREADS, REPLIES, REPLY_COUNTS, ReplyCounts, THREADS,
    list_of_video, slots, thread_of, whole_lists,
};
use crate::resource::comments::tally::{self, Tally};
use crate::resource::comments::words::{self, ThreadTime};
use crate::resource::videos::record::VIDEOS;
use crate::resource::videos::render::LISTED_VIDEOS;

/// Stores a new comment.
///
/// # Errors
/// As the store.
pub fn insert(tx: &mut Tx<'_>, shard: u8, id: &str, comment: &Comment) -> Result<(), Error> {
    COMMENTS.put(tx, &id.to_owned(), comment);
    activities::note(tx, &comment.author, comment.published, comment.event(id), true)?;
    if let Some(thread) = thread_of(id) {
        reply_rows(tx, thread, id, comment, true);
        reply_words(tx, thread, comment, None, Some(&comment.text))?;
        return count_reply(tx, Some(shard), thread, None, Some(comment.state));
    }
    words::replace(tx, opened(id, comment), comment, None, Some(&comment.text))?;
    move_thread(tx, Some(shard), id, None, Some((comment, ReplyCounts::default())))
}

/// Changes the text or the state of a comment, or what is counted of it.
///
/// # Errors
/// As the store.
pub fn replace(
    tx: &mut Tx<'_>,
    shard: u8,
    id: &str,
    old: &Comment,
    new: &Comment,
) -> Result<(), Error> {
    COMMENTS.put(tx, &id.to_owned(), new);
    if let Some(thread) = thread_of(id) {
        reply_rows(tx, thread, id, old, false);
        reply_rows(tx, thread, id, new, true);
        reply_words(tx, thread, new, Some(&old.text), Some(&new.text))?;
        return count_reply(tx, Some(shard), thread, Some(old.state), Some(new.state));
    }
    // Writers of replies meet this one here, before it looks at the words that they count too.
    let replies = REPLY_COUNTS.get(tx, &id.to_owned())?.unwrap_or_default();
    words::replace(tx, opened(id, new), new, Some(&old.text), Some(&new.text))?;
    move_thread(tx, Some(shard), id, Some((old, replies)), Some((new, replies)))
}

/// Removes a comment, a thread with its replies: nobody finds these from then on, and their rows go in steps.
///
/// # Errors
/// As the store.
pub fn remove(tx: &mut Tx<'_>, shard: u8, id: &str, comment: &Comment) -> Result<(), Error> {
    remove_as(tx, Some(shard), id, comment)
}

/// The same of a comment whose lists count nothing any more, since what it is about is gone.
///
/// # Errors
/// As the store.
pub fn remove_uncounted(tx: &mut Tx<'_>, id: &str, comment: &Comment) -> Result<(), Error> {
    remove_as(tx, None, id, comment)
}

fn remove_as(tx: &mut Tx<'_>, shard: Option<u8>, id: &str, comment: &Comment) -> Result<(), Error> {
    COMMENTS.delete(tx, &id.to_owned());
    activities::forget(tx, &comment.author, &comment.event(id))?;
    let mut leaves_rows = comment.likes > 0;
    if let Some(thread) = thread_of(id) {
        reply_rows(tx, thread, id, comment, false);
        reply_words(tx, thread, comment, Some(&comment.text), None)?;
        count_reply(tx, shard, thread, Some(comment.state), None)?;
    } else {
        // As in `replace`: first where others meet it, then the words.
        let replies = REPLY_COUNTS.get(tx, &id.to_owned())?;
        words::replace(tx, opened(id, comment), comment, Some(&comment.text), None)?;
        move_thread(tx, shard, id, Some((comment, replies.unwrap_or_default())), None)?;
        leaves_rows |= replies.is_some();
    }
    if leaves_rows {
        // The words of its replies are listed by its time.
        let time = comment.published.micros().to_string();
        cascade::begin_knowing(tx, Cascade::Comment, id, &time);
    }
    Ok(())
}

/// The thread that a comment opens.
const fn opened<'t>(id: &'t str, comment: &Comment) -> ThreadTime<'t> {
    ThreadTime { thread: id, published: comment.published }
}

/// Brings the words of a thread that is there to what a reply says now.
fn reply_words(
    tx: &mut Tx<'_>,
    thread: &str,
    reply: &Comment,
    old: Option<&str>,
    new: Option<&str>,
) -> Result<(), Error> {
    let thread_id = thread.to_owned();
    // Writers of other replies meet this one here, and have to do so before it looks at the words that they count too.
    REPLY_COUNTS.get(tx, &thread_id)?;
    match COMMENTS.get(tx, &thread_id)? {
        Some(top) => words::replace(tx, opened(thread, &top), reply, old, new),
        None => Ok(()),
    }
}

/// Brings the words of a comment from what an earlier build read in its text to what is read in it now; says how many rows changed.
///
/// # Errors
/// As the store.
pub fn read_anew(tx: &mut Tx<'_>, id: &str) -> Result<usize, Error> {
    let thread = thread_of(id).unwrap_or(id).to_owned();
    // As in `replace`: first where others meet it, then the words.
    REPLY_COUNTS.get(tx, &thread)?;
    let comment = COMMENTS.get(tx, &id.to_owned())?;
    let top = COMMENTS.get(tx, &thread)?;
    match (comment, top) {
        (Some(comment), Some(top)) => words::read_anew(tx, opened(&thread, &top), &comment),
        _ => Ok(0),
    }
}

/// Takes all that is counted of a list whose video or channel goes, out of the lists in `whole` as well, since it counts there.
///
/// # Errors
/// As the store.
pub fn uncount(
    tx: &mut Tx<'_>,
    list: &str,
    whole: impl Iterator<Item = String>,
) -> Result<(), Error> {
    let tally = tally::take(tx, list)?;
    if tally.counts() {
        for whole in whole {
            tally::add(tx, 0, &whole, tally.negated())?;
        }
    }
    Ok(())
}

/// Counts the comments about a video among all of its channel as they are seen now instead of as they were (see `Video::lists_comments`).
///
/// # Errors
/// As the store.
pub fn recount(
    tx: &mut Tx<'_>,
    (channel, video): (&str, &str),
    before: [bool; 2],
    now: [bool; 2],
) -> Result<(), Error> {
    if before == now {
        return Ok(());
    }
    let tally = tally::sum(tx, &list_of_video(video))?;
    if tally.counts() {
        let ([own_was, public_was], [own, public]) = (before, now);
        let gone = [own_was && !own, public_was && !public];
        let come = [own && !own_was, public && !public_was];
        for whole in whole_lists(channel, gone) {
            tally::add(tx, 0, &whole, tally.negated())?;
        }
        for whole in whole_lists(channel, come) {
            tally::add(tx, 0, &whole, tally)?;
        }
    }
    Ok(())
}

/// Plans what a change of a comment reads; `text` is what it is to say, and nothing where it goes.
pub fn plan(plan: &mut Plan<'_>, shard: u8, id: &str, text: Option<&str>) {
    if let Some(comment) = plan.row(&COMMENTS, &id.to_owned()) {
        let texts = [Some(comment.text.as_str()), text];
        plan_of(plan, shard, id, &comment, texts);
    }
}

/// Plans what a change of a comment's state reads.
pub fn plan_state(plan: &mut Plan<'_>, shard: u8, id: &str) {
    if let Some(comment) = plan.row(&COMMENTS, &id.to_owned()) {
        plan_of(plan, shard, id, &comment, [None; 2]);
    }
}

/// Plans what putting a comment reads whose text was this, and is to be that.
pub fn plan_of(
    plan: &mut Plan<'_>,
    shard: u8,
    id: &str,
    comment: &Comment,
    [old, new]: [Option<&str>; 2],
) {
    let thread = thread_of(id).unwrap_or(id);
    plan.row(&REPLY_COUNTS, &thread.to_owned());
    let top = if thread == id { None } else { plan.row(&COMMENTS, &thread.to_owned()) };
    let top = top.as_ref().or((thread == id).then_some(comment));
    if let Some(top) = top {
        words::plan(plan, opened(thread, top), comment, old, new);
    }
    activities::plan(plan, &comment.author, &comment.event(id));
    let [own, _] = comment.lists();
    for list in std::iter::once(own).chain(whole_lists(&comment.channel, [true; 2])) {
        tally::plan_add(plan, shard, &list);
    }
    if let Some(video) = &comment.video {
        plan.row(&VIDEOS, video);
    }
    plan.row(&CHANNELS, &comment.author);
}

/// The tallies that count a comment: that of its video or channel, and those of everything of its channel in which it is seen.
fn tallies_of(tx: &mut Tx<'_>, comment: &Comment) -> Result<Vec<String>, Error> {
    let [own, _] = comment.lists();
    let seen = match &comment.video {
        None => [true; 2],
        Some(video) => match LISTED_VIDEOS.get_shared(tx, video)? {
            Some(video) => video.record.head.lists_comments(),
            None => return Ok(Vec::new()),
        },
    };
    Ok(std::iter::once(own).chain(whole_lists(&comment.channel, seen)).collect())
}

fn reply_rows(tx: &mut Tx<'_>, thread: &str, id: &str, reply: &Comment, is_there: bool) {
    let time = latest_first(reply.published.micros());
    for slot in [EVERY_STATE, reply.state.slot()] {
        let row = (thread.to_owned(), slot, time, id.to_owned());
        if is_there {
            REPLIES.put(tx, &row, &());
        } else {
            REPLIES.delete(tx, &row);
        }
    }
}

/// Counts a reply that came, went or changed its state, and lists its thread where that belongs now.
fn count_reply(
    tx: &mut Tx<'_>,
    shard: Option<u8>,
    thread: &str,
    old: Option<Moderation>,
    new: Option<Moderation>,
) -> Result<(), Error> {
    let key = thread.to_owned();
    let before = REPLY_COUNTS.get(tx, &key)?.unwrap_or_default();
    let mut after = before;
    if let Some(old) = old {
        after.change(old, false);
    }
    if let Some(new) = new {
        after.change(new, true);
    }
    REPLY_COUNTS.put(tx, &key, &after);
    // A thread that is gone is listed nowhere.
    match COMMENTS.get(tx, &key)? {
        Some(top) if before != after => {
            move_thread(tx, shard, thread, Some((&top, before)), Some((&top, after)))
        }
        _ => Ok(()),
    }
}

/// Number of comments of a thread that everybody sees.
fn seen(state: Moderation, replies: ReplyCounts) -> i64 {
    let count = match state {
        Moderation::Published => replies.of(Moderation::Published).saturating_add(1),
        _ => 0,
    };
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Lists a thread as it is now instead of as it was, and counts that in a row of the tallies, if there is one.
fn move_thread(
    tx: &mut Tx<'_>,
    shard: Option<u8>,
    id: &str,
    old: Option<(&Comment, ReplyCounts)>,
    new: Option<(&Comment, ReplyCounts)>,
) -> Result<(), Error> {
    let Some((comment, _)) = new.or(old) else {
        return Ok(());
    };
    let time = latest_first(comment.published.micros());
    let lists = comment.lists();
    let [before, after] = [old, new]
        .map(|side| side.map_or([false; 4], |(comment, replies)| slots(comment.state, replies)));
    let mut threads = [0; 4];
    for ((slot, count), (was, is)) in (1_u8..).zip(&mut threads).zip(before.into_iter().zip(after))
    {
        *count = i64::from(is) - i64::from(was);
        for list in &lists {
            let row = (list.clone(), slot, time, id.to_owned());
            match (was, is) {
                (false, true) => THREADS.put(tx, &row, &()),
                (true, false) => THREADS.delete(tx, &row),
                _ => {}
            }
        }
    }
    let likes = |side: Option<(&Comment, ReplyCounts)>| {
        side.filter(|(comment, _)| comment.state == Moderation::Published)
            .map(|(comment, _)| comment.likes)
    };
    let (liked_before, liked) = (likes(old), likes(new));
    if liked_before != liked {
        for list in &lists {
            let row = |likes: u64| (list.clone(), !likes, time, id.to_owned());
            if let Some(likes) = liked_before {
                RELEVANT_THREADS.delete(tx, &row(likes));
            }
            if let Some(likes) = liked {
                RELEVANT_THREADS.put(tx, &row(likes), &());
            }
        }
    }
    let count = |side: Option<(&Comment, ReplyCounts)>| {
        side.map_or(0, |(top, replies)| seen(top.state, replies))
    };
    let change = Tally::of(count(new) - count(old), threads);
    if let Some(shard) = shard {
        for list in tallies_of(tx, comment)? {
            tally::add(tx, shard, &list, change)?;
        }
    }
    Ok(())
}
