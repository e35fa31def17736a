//! Reports of abuse: what somebody says about a video, kept for whoever runs the service.

use serde::{Deserialize, Serialize};
use triptych_core::id::Ids;
use triptych_core::kv::{JsonRecord, Span, Table, Tx};
use triptych_core::time::Timestamp;

use crate::account::ACCOUNTS;
use crate::api::error::{Error, Place};
use crate::api::language;
use crate::api::operation::call::Call;
use crate::record::closing;
use crate::record::json_fields::Body;
use crate::record::key_order::latest_first;
use crate::resource::video_abuse_report_reasons as reasons;
use crate::resource::videos::record::VIDEOS;
use crate::resource::videos::{record, rules};

/// The key of a report: its time, latest first, and a number that tells two of one moment apart.
pub type ReportKey = (u64, u64);

/// Reports by time, latest first.
pub const REPORTS: Table<ReportKey, Report> = Table::new(0xA1);

/// Reports of a video.
pub const REPORTS_OF_VIDEO: Table<(String, u64, u64), ()> = Table::new(0xA2);

/// The most characters of what somebody writes.
const COMMENTS_CHARS_MAX: usize = 10_000;

/// The most steps in which [`latest`] looks for reports that are shown.
const STEPS_MAX: usize = 20;

/// A report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The video.
    pub video_id: String,
    /// The account that reported it; none of one that was closed since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The time, in RFC 3339.
    pub reported_at: Timestamp,
    /// The reason.
    pub reason_id: String,
    /// The reason within it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secondary_reason_id: Option<String>,
    /// More words of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comments: Option<String>,
    /// The language that it speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

impl JsonRecord for Report {}

/// Keeps the report that a request holds.
///
/// # Errors
/// In this order: [`Error::InvalidField`] of a field's type, [`Error::RequiredField`], [`rules::REPORTED_NOT_FOUND`],
/// [`rules::ABUSE_REASON_INVALID`], [`rules::SECONDARY_REASON_INVALID`], [`rules::REPORT_TOO_LONG`], those of a language.
pub(super) fn put(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<(), Error> {
    let body = Body::of(call.body);
    let text = |name| body.filled_text(name);
    let (video, reason) = (text("videoId")?, text("reasonId")?);
    let (secondary, comments) = (text("secondaryReasonId")?, text("comments")?);
    let language = text("language")?;
    let video = video.ok_or(Error::RequiredField("videoId"))?;
    let reason = reason.ok_or(Error::RequiredField("reasonId"))?;
    record::visible(tx, &video, call.caller)?.ok_or(&rules::REPORTED_NOT_FOUND)?;
    let reasons = reasons::all(tx)?;
    let known = reasons.iter().find(|known| known.id == reason);
    let known = known.ok_or(&rules::ABUSE_REASON_INVALID)?;
    if let Some(id) = &secondary
        && !known.secondary_reasons.iter().any(|secondary| secondary.id == *id)
    {
        return Err(Error::Rule(&rules::SECONDARY_REASON_INVALID));
    }
    if comments.as_ref().is_some_and(|text| text.chars().count() > COMMENTS_CHARS_MAX) {
        return Err(Error::Rule(&rules::REPORT_TOO_LONG));
    }
    if let Some(tag) = &language {
        language::check(tag, || Place::body("language"))?;
    }
    let account = call.caller.account.as_ref().ok_or(Error::LoginRequired)?.id.clone();
    let (time, drawn) = (latest_first(call.now.micros()), ids.next());
    REPORTS_OF_VIDEO.put(tx, &(video.clone(), time, drawn), &());
    let report = Report {
        video_id: video,
        account: Some(account),
        reported_at: call.now,
        reason_id: reason,
        secondary_reason_id: secondary,
        comments,
        language,
    };
    REPORTS.put(tx, &(time, drawn), &report);
    Ok(())
}

/// The latest reports that are shown, of one video where it is named, at most `most` of them. Those of a video that is gone go after it, and
/// are not shown meanwhile; those of an account that was closed stay, without a word of whose they are. However many are not shown, it
/// looks at no more than `STEPS_MAX` times `most`.
///
/// # Errors
/// As the store.
pub fn latest(tx: &mut Tx<'_>, video: Option<&str>, most: usize) -> Result<Vec<Report>, Error> {
    let closing = closing::peek(tx)?;
    let mut shown = Vec::new();
    let mut after = None;
    for _ in 0..STEPS_MAX {
        let (found, last) = after_row(tx, video, after, most)?;
        tx.plan(|plan| {
            for report in &found {
                plan.row(&VIDEOS, &report.video_id);
                report.account.iter().for_each(|account| drop(plan.row(&ACCOUNTS, account)));
            }
        })?;
        for report in found {
            shown.extend(as_shown(tx, report, &closing)?);
        }
        if shown.len() >= most || last.is_none() {
            break;
        }
        after = last;
    }
    shown.truncate(most);
    Ok(shown)
}

/// The next `most` reports after a row, and the row at which others go on, if there are any.
fn after_row(
    tx: &mut Tx<'_>,
    video: Option<&str>,
    after: Option<ReportKey>,
    most: usize,
) -> Result<(Vec<Report>, Option<ReportKey>), Error> {
    let Some(video) = video else {
        let from = after.map(|key| REPORTS.key(&key).to_vec());
        let (rows, more) = REPORTS.scan(tx, &Span { from, ..REPORTS.span(&()) }, most)?;
        let last = rows.last().map(|(key, _)| *key).filter(|_| more);
        return Ok((rows.into_iter().map(|(_, report)| report).collect(), last));
    };
    let from =
        after.map(|(time, drawn)| REPORTS_OF_VIDEO.key(&(video.to_owned(), time, drawn)).to_vec());
    let span = Span { from, ..REPORTS_OF_VIDEO.span(&video.to_owned()) };
    let (rows, more) = REPORTS_OF_VIDEO.scan(tx, &span, most)?;
    let keys: Vec<_> = rows.into_iter().map(|((_, time, drawn), ())| (time, drawn)).collect();
    tx.plan(|plan| keys.iter().for_each(|key| drop(plan.row(&REPORTS, key))))?;
    let mut found = Vec::with_capacity(keys.len());
    for key in &keys {
        found.extend(REPORTS.peek(tx, key)?);
    }
    Ok((found, keys.last().copied().filter(|_| more)))
}

/// The report as it is shown, unless its video is gone.
fn as_shown(
    tx: &mut Tx<'_>,
    mut report: Report,
    closing: &closing::ClosingChannels,
) -> Result<Option<Report>, Error> {
    let video = VIDEOS.peek_shared(tx, &report.video_id)?;
    if video.is_none_or(|video| closing.holds(&video.head.channel)) {
        return Ok(None);
    }
    if let Some(account) = &report.account
        && ACCOUNTS.peek(tx, account)?.is_none_or(|account| account.closed)
    {
        report.account = None;
    }
    Ok(Some(report))
}

/// Removes at most `most` reports of a video that is gone, and says whether there are more.
///
/// # Errors
/// As the store.
pub fn remove_of_video(tx: &mut Tx<'_>, video: &str, most: usize) -> Result<bool, Error> {
    let span = REPORTS_OF_VIDEO.span(&video.to_owned());
    let (rows, more) = REPORTS_OF_VIDEO.scan(tx, &span, most)?;
    for (key, ()) in rows {
        REPORTS.delete(tx, &(key.1, key.2));
        REPORTS_OF_VIDEO.delete(tx, &key);
    }
    Ok(more)
}
