//! The `video-api` binary: flags to a service under the host.

mod commands;

use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use triptych_core::host::flags::Product;
use triptych_core::host::launch::{self, BuiltService, LaunchError, Start};
use triptych_core::host::storage;
use video_api::caption::translation::Translator;
use video_api::http::VideoApi;
use video_api::seed::Seed;

const PRODUCT: Product = Product {
    name: "video-api",
    version: env!("CARGO_PKG_VERSION"),
    prefix: "VIDEO_API",
    port: 7801,
    // Resources, what search reads of them and postings are longer: only what points at them has to fit the cache.
    record_bytes_max: 256,
    is_row: video_api::state::archive::is_row,
};

/// Bytes of the block that [`keep_freed_memory`] frees: more than half of what a conversion of captions of 1 MiB takes.
const FREED_BLOCK_BYTES: usize = 8 << 20;

fn main() -> ExitCode {
    keep_freed_memory();
    let about = "A video-platform data service that unmodified Data API v3 clients drive";
    let command = launch::command(&PRODUCT, about, commands::augment);
    let matches = command.clone().get_matches();
    if let Some(code) =
        matches.subcommand().and_then(|(name, matches)| commands::run(name, matches))
    {
        return code;
    }
    launch::run(&PRODUCT, &command, &matches, make)
}

/// Lets the allocator keep memory that was freed for the next request: glibc keeps, for each thread's arena, twice the largest block
/// that was ever freed (mallopt(3), `M_MMAP_THRESHOLD`). Without that each conversion of captions gave its pages back and took them anew,
/// which cost a third of its time.
fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(FREED_BLOCK_BYTES)));
}

/// Builds the service; what it awaits holds nothing of the command line.
fn make(
    start: Start,
    matches: &ArgMatches,
) -> impl Future<Output = Result<BuiltService<VideoApi>, LaunchError>> + use<> {
    let made = commands::translator(matches)
        .map_err(LaunchError::Service)
        .and_then(|translator| build(&start, translator));
    async move {
        let mut made = made?;
        let new = made
            .service
            .apply_seed()
            .await
            .map_err(|error| LaunchError::Service(error.to_string()))?;
        made.service.start_background_tasks();
        if start.flags.seed.is_some() {
            made.banner.push(("seed", format!("{new} new things")));
        }
        Ok(made)
    }
}

fn build(
    start: &Start,
    translator: Option<Arc<dyn Translator>>,
) -> Result<BuiltService<VideoApi>, LaunchError> {
    let url = &start.url;
    let (mut banner, mut secrets, mut own) = (Vec::new(), Vec::new(), true);
    let seed = match &start.flags.seed {
        Some(path) => {
            let failed =
                |error: String| LaunchError::Service(format!("{}: {error}", path.display()));
            let file = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
            let folder = path.parent().map(std::path::Path::to_path_buf).unwrap_or_default();
            let beside = |name: &str| {
                let path = folder.join(name);
                std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
            };
            Seed::parse_beside(&file, &beside).map_err(|error| failed(error.to_string()))?
        }
        None => {
            let kept = start.storage.directory.as_ref();
            own = kept.is_some_and(|directory| directory.join("token").exists());
            let secret = |name| match kept {
                Some(directory) => storage::secret(directory, name),
                None => Ok(storage::random_hex()),
            };
            let (key, token) = (secret("api-key")?, secret("token")?);
            secrets.push(("key", key.clone()));
            secrets.push(("token", token.clone()));
            secrets.push(("try", format!("curl '{url}/youtube/v3/channels?part=snippet&mine=true' -H 'Authorization: Bearer {token}'")));
            Seed::of_credentials(&key, &token)
        }
    };
    banner.push(("document", format!("{url}/$discovery/rest?version=v3")));
    let has_own_credentials = own && seed.has_credentials();
    let service = VideoApi::builder(start.storage.kv.clone(), start.storage.blobs.clone())
        .clock(start.clock.clone())
        .strict(start.flags.strict)
        .external_url(start.flags.external_url.clone())
        .translator(translator)
        .seed(seed)
        .build();
    Ok(BuiltService { service, banner, secrets, has_own_credentials })
}
