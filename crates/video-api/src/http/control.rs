//! The service as its host sees it: refusals in the interface's error body, reset, and control paths of its own:
//! `/_ops/plays`, `/_ops/comments`, `/_ops/activities`, `/_ops/accounts/close` and `/_ops/quota`.

use bytes::Bytes;
use http::{Request, Response, header};
use serde::de::DeserializeOwned;
use serde_json::json;
use triptych_core::blobs;
use triptych_core::error::Coded;
use triptych_core::host::{
    Body as HostBody, BoxError, ControlAnswer, Hosted, Page, Refusal, ReplyBody, RequestHead,
    is_control,
};
use triptych_core::kv::{self, StoreError, Tx, run};

use super::content_encoding::DecodedBody;
use super::request::read_whole_body;
use super::{ATTEMPTS_MAX, ApiRequest, JSON_BYTES_MAX, VideoApi, page};
use crate::api::error::{Error, Place};
use crate::api::quota;
use crate::http::answer_form::AnswerForm;
use crate::http::response::{ApiResponse, Body, JSON, challenge, error_body};
use crate::resource::activities::announcement::{self, Announcement};
use crate::resource::channels::closing::{self, Closing};
use crate::resource::comments::reaction::{self, Reaction};
use crate::resource::members;
use crate::resource::members::control::Change as MembershipChange;
use crate::resource::videos::play::{self, Plays};
use crate::resource::videos::report;
use crate::resource::{OPERATIONS, RESOURCES, recount};
use crate::seed::SeedError;

/// Methods and paths of the control paths of this service's own, with what each does.
const CONTROLS: &[(&str, &str, Control)] = &[
    ("POST", "/_ops/plays", Control::Plays),
    ("POST", "/_ops/comments", Control::Comments),
    ("POST", "/_ops/members", Control::Members),
    ("POST", "/_ops/playerLinks", Control::PlayerLinks),
    ("GET", "/_ops/abuseReports", Control::AbuseReports),
    ("POST", "/_ops/activities", Control::Activities),
    ("POST", "/_ops/accounts/close", Control::Close),
    ("GET", "/_ops/quota", Control::Quota),
    ("GET", "/_ops/credentials", Control::Credentials),
    ("GET", "/_ops/accounts", Control::Accounts),
    ("POST", "/_ops/accessTokens", Control::AccessTokens),
];

/// The work of a control path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Control {
    Plays,
    Comments,
    Members,
    PlayerLinks,
    AbuseReports,
    Activities,
    Close,
    Quota,
    Credentials,
    Accounts,
    AccessTokens,
}

/// Reports of abuse that one answer shows at most.
const REPORTS_MAX: usize = 1_000;

impl Hosted for VideoApi {
    fn refuse(&self, refusal: &Refusal, head: &RequestHead<'_>) -> Response<ReplyBody> {
        let row = refusal.row();
        let is_control = is_control(head.uri.path());
        let (reason, found_at) = match refusal {
            Refusal::FaultInjected { reason, status } => {
                let usual = || Error::usual_reason(*status);
                (reason.as_deref().unwrap_or_else(usual), Place::None)
            }
            Refusal::MissingHost | Refusal::BadHost | Refusal::HostMismatch => {
                ("invalidHeader", Place::Header("Host"))
            }
            Refusal::Panicked | Refusal::Overloaded | Refusal::HeadTooLarge(_) => {
                (Error::usual_reason(row.status), Place::None)
            }
            _ => (row.code, Place::None),
        };
        let rules = RESOURCES.iter().flat_map(|resource| resource.rules).copied();
        let known = match refusal {
            Refusal::FaultInjected { reason: Some(reason), status } => {
                Error::of_reason(reason, *status, rules)
            }
            _ => None,
        };
        let (domain, place, message) = match &known {
            Some(error) => {
                let detail = error.detail();
                (detail.domain, detail.place, error.to_string())
            }
            None => (Error::usual_domain(reason), found_at, refusal.to_string()),
        };
        let request = self.read_head(head);
        let form = request.error_form();
        let body = error_body(row.status, reason, domain, &place, &message, form);
        let mut headers = vec![(header::CONTENT_TYPE, JSON.into())];
        headers.extend(challenge(known.as_ref(), row.status, "-"));
        let response = ApiResponse {
            status: row.status,
            headers,
            body: Body::Text(body.to_string().into()),
            operation: "-",
        };
        // No page of another origin may ask these.
        if is_control {
            return response.into_http(request.gzip);
        }
        AnswerForm::of(&request).write(response)
    }

    fn secret_parameters(&self) -> &'static [&'static str] {
        &["upload_id", "id_token", "code_verifier", "rs"]
    }

    async fn reset(&self) -> Result<(), String> {
        self.clear().await.map_err(|error| error.to_string())?;
        self.apply_seed().await.map(drop).map_err(|error| error.to_string())
    }

    fn page(&self) -> Option<Page> {
        Some(page::PAGE)
    }

    async fn control(
        &self,
        request: Request<HostBody>,
    ) -> Result<ControlAnswer, Request<HostBody>> {
        self.answer_control(request).await.map(Ok)
    }
}

impl VideoApi {
    /// The head of a request that the host refuses, as the service would have read it.
    fn read_head(&self, head: &RequestHead<'_>) -> ApiRequest {
        let (mut parts, ()) = Request::new(()).into_parts();
        parts.method = head.method.clone();
        parts.uri = head.uri.clone();
        parts.headers = head.headers.clone();
        ApiRequest::read(parts, self.0.external_url.as_deref())
    }

    /// Answers a request to a control path of this service's own.
    ///
    /// # Errors
    /// The request, if its path is none of these.
    pub async fn answer_control<B>(
        &self,
        request: Request<B>,
    ) -> Result<Response<ReplyBody>, Request<B>>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let path = request.uri().path();
        let Some((allowed, _, control)) = CONTROLS.iter().find(|(_, known, _)| *known == path)
        else {
            return Err(request);
        };
        let is_allowed = request.method().as_str() == *allowed;
        let (head, mut body) = request.into_parts();
        let mut request = ApiRequest::read(head, self.0.external_url.as_deref());
        if !is_allowed {
            let refused = request.refuse(&request.not_allowed(allowed), "control");
            return Ok(refused.into_http(request.gzip));
        }
        let mut body = DecodedBody::new(&mut body, &mut request.headers);
        let outcome = match control {
            Control::Plays => match read_whole_body(&mut body, JSON_BYTES_MAX).await {
                Ok(bytes) => self.plays(&bytes).await,
                Err(error) => Err(error),
            },
            Control::Activities => match read_whole_body(&mut body, JSON_BYTES_MAX).await {
                Ok(bytes) => self.announce(&bytes).await,
                Err(error) => Err(error),
            },
            Control::Close => match read_whole_body(&mut body, JSON_BYTES_MAX).await {
                Ok(bytes) => self.close_account(&bytes).await,
                Err(error) => Err(error),
            },
            Control::Comments => match read_whole_body(&mut body, JSON_BYTES_MAX).await {
                Ok(bytes) => self.react(&bytes).await,
                Err(error) => Err(error),
            },
            Control::Members => match read_whole_body(&mut body, JSON_BYTES_MAX).await {
                Ok(bytes) => self.change_membership(&bytes).await,
                Err(error) => Err(error),
            },
            Control::PlayerLinks => match read_whole_body(&mut body, JSON_BYTES_MAX).await {
                Ok(bytes) => self.player_link(&request, &bytes).await,
                Err(error) => Err(error),
            },
            Control::AccessTokens => match read_whole_body(&mut body, JSON_BYTES_MAX).await {
                Ok(bytes) => self.access_token(&bytes).await,
                Err(error) => Err(error),
            },
            Control::Accounts => self.accounts(request.value("id")),
            Control::Credentials => Ok(self.credentials()),
            Control::AbuseReports => self.abuse_reports(request.value("videoId")).await,
            Control::Quota => {
                quota::remaining(&mut Tx::new(&*self.0.store), OPERATIONS, self.0.clock.now())
            }
        };
        let response = match outcome {
            Ok(json) => ApiResponse {
                status: 200,
                headers: vec![(header::CONTENT_TYPE, "application/json".into())],
                body: Body::Text(json.to_string().into()),
                operation: "control",
            },
            Err(error) => request.refuse(&error, "control"),
        };
        Ok(response.into_http(request.gzip))
    }

    /// Counts what an earlier build did not, applies the seed, and says how many of its steps were new.
    ///
    /// # Errors
    /// [`SeedError`].
    pub async fn apply_seed(&self) -> Result<usize, SeedError> {
        let now = self.0.clock.now();
        let mut ids = self.ids();
        self.recount().await?;
        let begin = self.0.seed.resume(&mut Tx::new(&*self.0.store))?;
        let mut new = 0;
        for at in begin.unwrap_or(0)..self.0.seed.len() {
            let _change = self.0.schedule.change();
            let applied = run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, _| {
                self.0.seed.apply(at, tx, now, begin.is_some())
            })
            .await?;
            new += usize::from(applied);
        }
        Ok(new)
    }

    /// Counts what an earlier build did not.
    async fn recount(&self) -> Result<(), SeedError> {
        let place = "the tallies of an earlier build";
        let failed =
            |error: Error| SeedError::Refused { place: place.into(), reason: error.to_string() };
        let (store, mut ids) = (&*self.0.store, self.ids());
        let mut step = async || run(store, &mut ids, ATTEMPTS_MAX, |tx, _| recount::step(tx)).await;
        while step().await.map_err(failed)? {}
        Ok(())
    }

    /// Counts plays, and puts them into the history of the account.
    async fn plays(&self, bytes: &Bytes) -> Result<serde_json::Value, Error> {
        let plays: Plays = sent(bytes)?;
        let now = self.0.clock.now();
        let mut ids = self.ids();
        let counts = run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, ids| {
            play::record(tx, ids, &plays, now)
        })
        .await?;
        Ok(json!({
            "video": plays.video,
            "viewCount": counts.views.to_string(),
            "secondsWatched": counts.seconds.to_string(),
        }))
    }

    /// Lets somebody like a comment, or the service find spam in it.
    async fn react(&self, bytes: &Bytes) -> Result<serde_json::Value, Error> {
        let reaction: Reaction = sent(bytes)?;
        let mut ids = self.ids();
        let comment = run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, ids| {
            reaction::carry_out(tx, ids, &reaction)
        })
        .await?;
        Ok(json!({
            "comment": reaction.comment,
            "likeCount": comment.likes,
            "moderationStatus": comment.state.name(),
        }))
    }

    /// Lets an account become a member, change its level, or leave.
    async fn change_membership(&self, bytes: &Bytes) -> Result<serde_json::Value, Error> {
        let change: MembershipChange = sent(bytes)?;
        let now = self.0.clock.now();
        let mut ids = self.ids();
        run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, _| {
            members::control::carry_out(tx, &change, now)
        })
        .await
    }

    /// The latest reports of abuse, of one video or of all.
    async fn abuse_reports(&self, video: Option<&str>) -> Result<serde_json::Value, Error> {
        let (store, video) = (self.store_of_request(), video.map(str::to_owned));
        let find = move || report::latest(&mut Tx::new(&*store), video.as_deref(), REPORTS_MAX);
        let reports = self.run_blocking_bounded(find).await?;
        let shown = reports.into_iter().map(|report| {
            let at = report.reported_at.rfc3339();
            let mut json = serde_json::to_value(report).unwrap_or_default();
            if let Some(map) = json.as_object_mut() {
                map.insert("reportedAt".into(), at.into());
            }
            json
        });
        Ok(json!({"items": shown.collect::<Vec<_>>()}))
    }

    /// Makes an activity that no operation makes.
    async fn announce(&self, bytes: &Bytes) -> Result<serde_json::Value, Error> {
        let announcement: Announcement = sent(bytes)?;
        let now = self.0.clock.now();
        let mut ids = self.ids();
        let id = run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, ids| {
            announcement::make(tx, ids, &announcement, now)
        })
        .await?;
        Ok(json!({"id": id}))
    }

    /// Closes an account, and begins to remove what was on its channel.
    async fn close_account(&self, bytes: &Bytes) -> Result<serde_json::Value, Error> {
        let closing: Closing = sent(bytes)?;
        let mut ids = self.ids();
        run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, _| closing::close(tx, &closing)).await?;
        self.sweep_soon();
        Ok(json!({"account": closing.account, "closed": true}))
    }

    /// Deletes every row, then every body.
    async fn clear(&self) -> Result<(), StoreError> {
        kv::clear(&*self.0.store, &mut self.ids(), ATTEMPTS_MAX).await?;
        blobs::clear(&*self.0.blobs).await;
        Ok(())
    }
}

/// The content of a request's body, which is one object: read straight into its type, a list would be taken member by member.
fn sent<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(bytes)
        .and_then(|members| serde_json::from_value(members.into()))
        .map_err(|error| Error::ParseError(error.to_string()))
}
