//! The traits of hyper and tower, for a service that can answer.

/// Implements hyper's and tower's `Service` for a type that has `async fn answer<B>(&self, Request<B>) -> Response<ReplyBody>`, so that
/// the host runs it and a router mounts it. A bound that its bodies need beside those of all is given behind the type.
///
/// The crate that calls it depends on `bytes`, `http`, `http-body`, `hyper` and `tower-service`.
#[macro_export]
macro_rules! impl_service {
    ($service:ty $(: $bound:path)?) => {
        impl<B> ::hyper::service::Service<::http::Request<B>> for $service
        where
            B: ::http_body::Body<Data = ::bytes::Bytes> + Send $(+ $bound)? + 'static,
            B::Error: Into<$crate::host::BoxError>,
        {
            type Response = ::http::Response<$crate::host::ReplyBody>;
            type Error = ::std::convert::Infallible;
            type Future = $crate::host::Answering;

            fn call(&self, request: ::http::Request<B>) -> $crate::host::Answering {
                let service = self.clone();
                Box::pin(async move { Ok(service.answer(request).await) })
            }
        }

        impl<B> ::tower_service::Service<::http::Request<B>> for $service
        where
            B: ::http_body::Body<Data = ::bytes::Bytes> + Send $(+ $bound)? + 'static,
            B::Error: Into<$crate::host::BoxError>,
        {
            type Response = ::http::Response<$crate::host::ReplyBody>;
            type Error = ::std::convert::Infallible;
            type Future = $crate::host::Answering;

            fn poll_ready(
                &mut self,
                _: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<Result<(), ::std::convert::Infallible>> {
                ::std::task::Poll::Ready(Ok(()))
            }

            fn call(&mut self, request: ::http::Request<B>) -> $crate::host::Answering {
                ::hyper::service::Service::call(&*self, request)
            }
        }
    };
}
