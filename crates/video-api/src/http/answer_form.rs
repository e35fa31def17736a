//! The form in which a request wants its answer, whoever gives that: the service, or the host that refuses it.

use http::Response;
use triptych_core::host::ReplyBody;

use super::ApiRequest;
use super::cors::CrossOrigin;
use super::jsonp::Callback;
use super::response::ApiResponse;

/// Everything of a request that its answer follows from as a whole.
#[derive(Debug)]
pub(super) struct AnswerForm {
    gzip: bool,
    callback: Option<Callback>,
    cross_origin: Option<CrossOrigin>,
}

impl AnswerForm {
    /// The form that a request wants.
    pub(super) fn of(request: &ApiRequest) -> Self {
        Self {
            gzip: request.gzip,
            callback: Callback::of(request),
            cross_origin: CrossOrigin::of(request),
        }
    }

    /// The response in this form.
    pub(super) fn write(self, response: ApiResponse) -> Response<ReplyBody> {
        let response = match self.callback {
            Some(callback) => callback.wrap(response),
            None => response,
        };
        let mut response = response.into_http(self.gzip);
        if let Some(cross_origin) = &self.cross_origin {
            cross_origin.expose(response.headers_mut());
        }
        response
    }
}
