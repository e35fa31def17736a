//! Pages of the threads about a video, a channel, or everything of a channel.

use std::collections::BTreeSet;

use triptych_core::kv::{Plan, Tx};

use crate::api::error::Error;
use crate::api::merge::{self, Bounds, Row};
use crate::api::operation::call::Call;
use crate::api::page_token::Binding;
use crate::api::paginate::{self, Wanted};
use crate::api::response::Paging;
use crate::resource::channels::record as channels;
use crate::resource::comment_threads::rules;
use crate::resource::comments::listed::LISTED_COMMENTS;
use crate::resource::comments::moderation::Moderation;
use crate::resource::comments::record::{
    RELEVANT_THREADS, REPLIES, REPLY_COUNTS, THREADS, list_of_all, list_of_channel, list_of_public,
    list_of_video, slots,
};
use crate::resource::comments::words::{WORDS, WordKey, holds, terms};
use crate::resource::comments::{self, tally};
use crate::resource::videos::render::LISTED_VIDEOS;

/// A search looks at so many of the latest replies of a thread.
const REPLIES_SEARCHED: usize = 500;

/// Terms of a search, the longest ones, of which the rarest is looked for.
const TERMS_COUNTED: usize = 8;
/// Terms that are looked for in each of the threads that are found, all together; the others, of which hardly a search has any, one by one.
const TERMS_PLANNED: usize = 8;
/// Threads of each term that are counted for it: a few first, which is enough for most searches.
const THREADS_COUNTED: [usize; 2] = [20, 500];

/// A list of threads that the caller may read.
pub(super) struct ThreadList {
    list: String,
    /// The list whose tally is its total.
    tally: String,
    /// The state that is asked for.
    pub(super) state: Moderation,
    is_owner: bool,
    /// True if it holds threads about several videos, of which the caller may see but some.
    is_mixed: bool,
}

impl ThreadList {
    /// The list that a request asks for.
    ///
    /// # Errors
    /// [`rules::FILTER_VIDEO_NOT_FOUND`], [`rules::COMMENTS_DISABLED`], [`rules::FILTER_CHANNEL_NOT_FOUND`],
    /// [`rules::FILTER_RELATED_NOT_FOUND`], [`rules::FORBIDDEN`].
    pub(super) fn open(call: &Call<'_>, tx: &mut Tx<'_>) -> Result<Self, Error> {
        let params = call.params;
        let (list, channel, is_mixed) = if let Some(id) = params.get("videoId") {
            let video = LISTED_VIDEOS.peek_shared(tx, &id.to_owned())?;
            let video = video.filter(|video| video.record.head.is_visible(call.caller));
            let video = video.ok_or(&rules::FILTER_VIDEO_NOT_FOUND)?;
            if video.record.head.comments_disabled() {
                return Err(Error::Rule(&rules::COMMENTS_DISABLED));
            }
            (list_of_video(id), video.record.head.channel.clone(), false)
        } else {
            let own = params.get("channelId");
            let all = params.get("allThreadsRelatedToChannelId");
            let channel = own.or(all).unwrap_or_default().to_owned();
            let (list, absent) = match own {
                Some(_) => (list_of_channel(&channel), &rules::FILTER_CHANNEL_NOT_FOUND),
                None => (list_of_all(&channel), &rules::FILTER_RELATED_NOT_FOUND),
            };
            channels::named(tx, &channel, absent)?;
            (list, channel, own.is_none())
        };
        let state = params.get("moderationStatus").and_then(Moderation::named).unwrap_or_default();
        let is_owner = call.caller.owns(&channel);
        if state != Moderation::Published && !is_owner {
            return Err(Error::Rule(&rules::FORBIDDEN));
        }
        let tally = if is_mixed && !is_owner { list_of_public(&channel) } else { list.clone() };
        Ok(Self { list, tally, state, is_owner, is_mixed })
    }

    /// A page of its threads.
    ///
    /// # Errors
    /// [`Error::InvalidPageToken`].
    pub(super) fn page(
        &self,
        call: &Call<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<(Vec<String>, Paging), Error> {
        let asked = call.params.get("searchTerms").unwrap_or_default().trim();
        let search = terms(asked);
        let is_wordless = search.is_empty() && !asked.is_empty();
        // What is not published has an order of time alone.
        let by_relevance = call.params.get("order") == Some("relevance")
            && self.state == Moderation::Published
            && search.is_empty();
        let order = if by_relevance { "relevance" } else { "time" };
        let audience = if self.is_owner { "owner" } else { "everyone" };
        let mut names =
            vec![call.operation.name, self.list.as_str(), self.state.name(), order, audience];
        names.extend(search.iter().map(String::as_str));
        if is_wordless {
            names.push(asked);
        }
        let binding = Binding::of(&names);
        let token = call.page_token(binding)?;
        let size = call.page_size();
        if is_wordless {
            // Signs alone are no words that a text could hold.
            return Ok((Vec::new(), Paging { size, ..Paging::default() }));
        }
        let wanted = Wanted { token: token.as_ref(), size, binding };
        if !search.is_empty() {
            return self.search(call, tx, &search, wanted);
        }
        // What everyone sees of a channel and its videos is counted beside what the owner does.
        let total = tally::of(tx, self.tally.clone())?.threads(self.state.slot());
        // Whatever changes the list changes its tally, which was read above.
        if by_relevance {
            let rows = tx.guarded(|tx| {
                let start = self.list.clone();
                let keeps = |tx: &mut Tx<'_>, key: &(String, u64, u64, String)| {
                    self.shows(call, tx, &key.3)
                };
                let plan = |plan: &mut Plan<'_>, key: &(String, u64, u64, String)| {
                    self.plan_shown(call, plan, &key.3);
                };
                paginate::read_where(tx, &RELEVANT_THREADS, &start, wanted, plan, keeps)
            })?;
            let paging = rows.paging(total, size);
            return Ok((rows.keys.into_iter().map(|key| key.3).collect(), paging));
        }
        let rows = tx.guarded(|tx| {
            let start = (self.list.clone(), self.state.slot());
            let keeps =
                |tx: &mut Tx<'_>, key: &(String, u8, u64, String)| self.shows(call, tx, &key.3);
            let plan = |plan: &mut Plan<'_>, key: &(String, u8, u64, String)| {
                self.plan_shown(call, plan, &key.3);
            };
            paginate::read_where(tx, &THREADS, &start, wanted, plan, keeps)
        })?;
        let paging = rows.paging(total, size);
        Ok((rows.keys.into_iter().map(|key| key.3).collect(), paging))
    }

    /// Plans what [`ThreadList::shows`] reads, with all that the thread is shown by.
    fn plan_shown(&self, call: &Call<'_>, plan: &mut Plan<'_>, id: &String) {
        if self.is_mixed {
            comments::render::plan(plan, id, call.caller);
        }
    }

    /// Returns whether the caller may see what a thread of the list is about.
    fn shows(&self, call: &Call<'_>, tx: &mut Tx<'_>, id: &str) -> Result<bool, Error> {
        if !self.is_mixed {
            return Ok(true);
        }
        let Some(top) = LISTED_COMMENTS.peek_shared(tx, &id.to_owned())? else {
            return Ok(false);
        };
        let Some(video) = &top.record.video else {
            return Ok(true);
        };
        let video = LISTED_VIDEOS.peek_shared(tx, video)?;
        Ok(video.is_some_and(|video| {
            let head = &video.record.head;
            let [to_owner, to_everyone] = head.lists_comments();
            let is_told = if call.caller.owns(&head.channel) { to_owner } else { to_everyone };
            is_told && head.is_visible(call.caller)
        }))
    }

    /// Returns whether a reply of a thread in the state that is asked for holds every term.
    fn is_replied(
        &self,
        tx: &mut Tx<'_>,
        thread: &str,
        search: &BTreeSet<String>,
    ) -> Result<bool, Error> {
        let span = REPLIES.span(&(thread.to_owned(), self.state.slot()));
        let (rows, _) = REPLIES.scan(tx, &span, REPLIES_SEARCHED)?;
        tx.plan(|plan| {
            rows.iter().for_each(|((_, _, _, reply), ())| drop(plan.row(&LISTED_COMMENTS, reply)));
        })?;
        for ((_, _, _, reply), ()) in &rows {
            let reply = LISTED_COMMENTS.peek_shared(tx, reply)?;
            if reply.is_some_and(|reply| holds(&reply.record.text, search)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The term that the fewest threads of the list use; where all are used by many, the longest, since long words are rare.
    fn rarest(&self, tx: &mut Tx<'_>, search: &BTreeSet<String>) -> Result<String, Error> {
        let mut terms: Vec<_> = search.iter().collect();
        terms.sort_by_key(|term| std::cmp::Reverse(term.len()));
        terms.truncate(TERMS_COUNTED);
        let longest = terms.first().copied().cloned().unwrap_or_default();
        if terms.len() < 2 {
            return Ok(longest);
        }
        let span = |term: &&String| WORDS.span(&(self.list.clone(), (*term).clone()));
        let spans: Vec<_> = terms.iter().map(span).collect();
        for most in THREADS_COUNTED {
            let found = WORDS.scan_many(tx, &spans, most)?.into_iter();
            let counted = terms.iter().zip(found.map(|(threads, _)| threads.len()));
            let rarest = counted.min_by_key(|(_, threads)| *threads);
            if let Some((term, _)) = rarest.filter(|(_, threads)| *threads < most) {
                return Ok((*term).clone());
            }
        }
        Ok(longest)
    }

    /// The place of a word of a thread.
    fn word(&self, word: &str, time: u64, thread: &str) -> WordKey {
        (self.list.clone(), word.to_owned(), time, thread.to_owned())
    }

    /// Plans what a search reads of a thread.
    fn plan_found(&self, plan: &mut Plan<'_>, search: &BTreeSet<String>, rarest: &str, row: &Row) {
        let Some((time, id)) = merge::time_and_id(row.suffix()) else {
            return;
        };
        let terms = search.iter().map(String::as_str).take(TERMS_PLANNED);
        for word in terms.chain([rarest, ""]) {
            plan.row(&WORDS, &self.word(word, time, &id));
        }
        plan.row(&REPLY_COUNTS, &id);
        let top = plan.row(&LISTED_COMMENTS, &id);
        if let Some(video) = top.filter(|_| self.is_mixed).and_then(|top| top.record.video) {
            plan.row(&LISTED_VIDEOS, &video);
        }
    }

    /// Returns whether the comments of a thread use every term, or one of them is too long to tell.
    fn holds_words(
        &self,
        tx: &mut Tx<'_>,
        search: &BTreeSet<String>,
        (time, thread): (u64, &str),
    ) -> Result<bool, Error> {
        if search.len() < 2 {
            return Ok(true);
        }
        let mut uses = |term: &str| WORDS.peek(tx, &self.word(term, time, thread));
        for term in search {
            if uses(term)?.is_none() {
                // Of a text of many words, some have no rows.
                return Ok(uses("")?.is_some());
            }
        }
        Ok(true)
    }

    /// A page of the threads of which one comment holds every term.
    fn search(
        &self,
        call: &Call<'_>,
        tx: &mut Tx<'_>,
        search: &BTreeSet<String>,
        wanted: Wanted<'_>,
    ) -> Result<(Vec<String>, Paging), Error> {
        let rarest = self.rarest(tx, search)?;
        let spans = [rarest.clone(), String::new()]
            .map(|word| WORDS.span(&(self.list.clone(), word)).prefix);
        let plan = |plan: &mut Plan<'_>, row: &Row| self.plan_found(plan, search, &rarest, row);
        let take = |tx: &mut Tx<'_>, row: &Row| {
            let Some((time, id)) = merge::time_and_id(row.suffix()) else {
                return Ok(None);
            };
            // A text of many words stands in both spans if the word is one of its first.
            if row.source > 0 && WORDS.peek(tx, &self.word(&rarest, time, &id))?.is_some() {
                return Ok(None);
            }
            if !self.holds_words(tx, search, (time, &id))? {
                return Ok(None);
            }
            let Some(top) = LISTED_COMMENTS.peek_shared(tx, &id)? else {
                return Ok(None);
            };
            let replies = REPLY_COUNTS.peek(tx, &id)?.unwrap_or_default();
            let states = Moderation::ALL.into_iter().zip(slots(top.record.state, replies));
            let is_in_state = states.into_iter().any(|(state, is)| is && state == self.state);
            let is_shown = is_in_state
                && (holds(&top.record.text, search) || self.is_replied(tx, &id, search)?)
                && self.shows(call, tx, &id)?;
            Ok(is_shown.then_some(id))
        };
        let (page, total) =
            paginate::count_spans(tx, &spans, &Bounds::default(), wanted, plan, take)?;
        let paging = page.paging(total, wanted.size);
        Ok((page.keys, paging))
    }
}
