import com.google.api.client.googleapis.batch.BatchRequest;
import com.google.api.client.googleapis.batch.json.JsonBatchCallback;
import com.google.api.client.googleapis.json.GoogleJsonError;
import com.google.api.client.googleapis.json.GoogleJsonResponseException;
import com.google.api.client.googleapis.services.json.AbstractGoogleJsonClient;
import com.google.api.client.googleapis.services.json.AbstractGoogleJsonClientRequest;
import com.google.api.client.http.ByteArrayContent;
import com.google.api.client.http.GenericUrl;
import com.google.api.client.http.HttpBackOffIOExceptionHandler;
import com.google.api.client.http.HttpHeaders;
import com.google.api.client.http.HttpRequestInitializer;
import com.google.api.client.http.HttpResponseException;
import com.google.api.client.http.InputStreamContent;
import com.google.api.client.http.javanet.NetHttpTransport;
import com.google.api.client.json.GenericJson;
import com.google.api.client.json.JsonObjectParser;
import com.google.api.client.json.gson.GsonFactory;
import com.google.api.client.util.ExponentialBackOff;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The client of Java, unmodified, in its generic form: it writes, uploads, pages, batches, and is told why it is refused. It walks as long as the
 * environment says.
 */
public final class Walk {
    private static final String PART = "snippet,status";
    private static final String VIDEOS = "/upload/youtube/v3/videos";
    private static final int COUNT = Integer.parseInt(Optional.ofNullable(System.getenv("TRIPTYCH_WALK")).orElse("3"));
    private static final int FILMS = (COUNT + 9) / 10;
    private static final int SIZE = COUNT > 50 ? 50 : 2;
    private static Client api;
    private static int writes;
    private static int pages;
    private static int again;

    static final class Client extends AbstractGoogleJsonClient {
        Client(Builder builder) {
            super(builder);
        }

        static final class Builder extends AbstractGoogleJsonClient.Builder {
            Builder(String url, HttpRequestInitializer initializer) {
                super(new NetHttpTransport(), new GsonFactory(), url, "youtube/v3/", initializer, false);
            }

            @Override
            public Client build() {
                return new Client(this);
            }
        }
    }

    static final class Call extends AbstractGoogleJsonClientRequest<GenericJson> {
        Call(Client client, String method, String path, Object body) {
            super(client, method, path, body, GenericJson.class);
        }

        Call with(String name, Object value) {
            set(name, value);
            return this;
        }

        Call media(byte[] bytes, boolean direct) {
            initializeMediaUpload(new ByteArrayContent("video/mp4", bytes));
            getMediaHttpUploader().setDirectUploadEnabled(direct).setChunkSize(256 * 1024);
            return this;
        }

        /** Media of a length that nobody knows: the client packs each piece. */
        Call stream(byte[] bytes) {
            initializeMediaUpload(new InputStreamContent("video/mp4", new ByteArrayInputStream(bytes)));
            getMediaHttpUploader().setChunkSize(256 * 1024);
            return this;
        }
    }

    private static void expect(String step, boolean holds, Object seen) {
        if (!holds) {
            throw new AssertionError(step + ": " + seen);
        }
        if (!step.isEmpty()) {
            System.out.println("ok " + step);
        }
    }

    interface Write<T> {
        T number(int number) throws IOException;
    }

    /** Writes so often, says when half is written, and keeps what was acknowledged; the service may be killed at any time, and comes back. */
    private static <T> List<T> write(int times, Write<T> one) throws Exception {
        List<T> written = new ArrayList<>();
        for (int number = 0; number < times; number++) {
            if (number == times / 2) {
                System.out.println("half");
            }
            writes++;
            written.add(answer(one, number));
        }
        return written;
    }

    private static final BufferedReader WORDS = new BufferedReader(new InputStreamReader(System.in));

    /** Says that no answer came, and waits for the word that the service is back. There is none where nobody has killed it. */
    private static boolean isBack() throws IOException {
        System.out.println("unanswered");
        return WORDS.readLine() != null;
    }

    private static <T> T answer(Write<T> call, int number) throws Exception {
        for (;; again++) {
            try {
                return call.number(number);
            } catch (IOException unanswered) {
                boolean refused = unanswered instanceof HttpResponseException && ((HttpResponseException) unanswered).getStatusCode() < 500;
                if (refused || !isBack()) {
                    throw unanswered;
                }
            }
        }
    }

    /** Reads a list to its end. */
    private static List<GenericJson> whole(String path, String part, Object... query) throws IOException {
        List<GenericJson> items = new ArrayList<>();
        String next = null;
        do {
            Call call = new Call(api, "GET", path, null).with("part", part).with("maxResults", SIZE).with("pageToken", next);
            for (int index = 0; index < query.length; index += 2) {
                call.with((String) query[index], query[index + 1]);
            }
            GenericJson page = call.execute();
            pages++;
            for (Object item : (List<?>) page.get("items")) {
                GenericJson json = new GenericJson();
                json.putAll((Map<String, Object>) item);
                items.add(json);
            }
            next = (String) page.get("nextPageToken");
        } while (next != null);
        return items;
    }

    private static List<String> ids(List<GenericJson> items, Object... path) {
        Object[] steps = path.length == 0 ? new Object[] {"id"} : path;
        return items.stream().map(item -> Walk.<String>at(item, steps)).collect(Collectors.toList());
    }

    /** Whether a list has each once of what was acknowledged, and beside it what was there before and at most what was written without an answer. */
    private static boolean holds(List<String> listed, List<String> written, List<String> before, int unanswered) {
        Set<String> seen = new HashSet<>(listed);
        int beside = listed.size() - written.size() - before.size();
        return seen.size() == listed.size() && seen.containsAll(written) && seen.containsAll(before) && beside >= 0 && beside <= unanswered;
    }

    /** What was written without an answer is refused the second time. */
    private static String unlessRefused(String reason, Call call) throws IOException {
        try {
            call.execute();
        } catch (GoogleJsonResponseException refusal) {
            if (again == 0 || !refusal.getContent().contains(reason)) {
                throw refusal;
            }
        }
        return "";
    }

    private static Call post(String path, String part, Object body) {
        return new Call(api, "POST", path, body).with("part", part);
    }

    private static Object item(Object list, String video) {
        return snippet(Map.of("playlistId", list, "resourceId", Map.of("kind", "youtube#video", "videoId", video)));
    }

    private static Map<String, Object> snippet(Map<String, Object> members) {
        return Map.of("snippet", members);
    }

    private static Object video(String title) {
        return snippet(Map.of("title", title, "categoryId", "22"));
    }

    @SuppressWarnings("unchecked")
    private static <T> T at(Object json, Object... path) {
        for (Object step : path) {
            json = step instanceof Integer ? ((List<Object>) json).get((Integer) step) : ((Map<String, Object>) json).get(step);
        }
        return (T) json;
    }

    public static void main(String[] arguments) throws Exception {
        String url = System.getenv("TRIPTYCH_VIDEO_URL") + "/";
        String token = System.getenv("TRIPTYCH_VIDEO_TOKEN");
        api = (Client) new Client.Builder(url, request -> {
            request.getHeaders().setAuthorization("Bearer " + token);
            request.setParser(new JsonObjectParser(new GsonFactory()));
            HttpBackOffIOExceptionHandler handler = new HttpBackOffIOExceptionHandler(new ExponentialBackOff());
            request.setIOExceptionHandler((failed, retries) -> {
                again++;
                return handler.handleIOException(failed, retries);
            });
        }).setApplicationName("walk").build();

        List<String> before = ids(whole("playlists", "id", "mine", true));
        List<GenericJson> lists = write(FILMS, number -> post("playlists", PART, snippet(Map.of("title", "Java's"))).execute());
        GenericJson list = lists.get(FILMS - 1);
        boolean kept = holds(ids(whole("playlists", "id", "mine", true)), ids(lists), before, again);
        expect("writes", kept && "Java's".equals(at(list, "snippet", "title")), list);

        GenericJson mine = new Call(api, "GET", "channels", null).with("part", "contentDetails").with("mine", true).execute();
        String uploads = at(mine, "items", 0, "contentDetails", "relatedPlaylists", "uploads");
        List<String> films = walkUploads(uploads, Files.readAllBytes(Path.of(arguments[0])));
        String film = films.get(0);
        List<String> liked = ids(whole("videos", "id", "myRating", "like"));
        write(films.size(), number -> post("videos/rate", null, null).with("id", films.get(number)).with("rating", "like").execute());
        expect("rates", holds(ids(whole("videos", "id", "myRating", "like")), films, liked, 0), films);

        List<GenericJson> added = write(COUNT, number -> post("playlistItems", PART, item(list.get("id"), film)).execute());
        int read = pages;
        List<GenericJson> items = whole("playlistItems", PART, "playlistId", list.get("id"));
        boolean dense = true;
        for (int position = 0; position < items.size(); position++) {
            dense &= ((Number) at(items.get(position), "snippet", "position")).intValue() == position;
        }
        boolean full = pages - read == (items.size() + SIZE - 1) / SIZE;
        expect("pages", dense && full && holds(ids(items), ids(added), List.of(), again), items.size() + " in " + (pages - read));

        walkComments(film);
        walkSubscriptions(at(mine, "items", 0, "id"));
        List<String> done = ids(whole("activities", "snippet", "mine", true));
        expect("activities", done.size() >= COUNT && new HashSet<>(done).size() == done.size(), done.size());
        walkBatches(film, url, token);

        try {
            Object untitled = Map.of("id", list.get("id"), "snippet", Map.of("title", ""));
            new Call(api, "PUT", "playlists", untitled).with("part", PART).execute();
            throw new AssertionError("nothing was refused");
        } catch (GoogleJsonResponseException refusal) {
            expect("is told why", refusal.getContent().contains("playlistTitleRequired"), refusal.getContent());
        }
        String walked = "walked %d uploads, %d other writes, %d pages, a batch of %d, %d calls again%n";
        System.out.printf(walked, films.size(), writes - films.size(), pages, COUNT, again);
    }

    private static List<String> walkUploads(String uploads, byte[] film) throws Exception {
        List<String> before = ids(whole("playlistItems", "snippet", "playlistId", uploads), "snippet", "resourceId", "videoId");
        List<GenericJson> wholes = write(FILMS, number -> post(VIDEOS, PART, video("Whole")).media(film, true).execute());
        GenericJson whole = wholes.get(FILMS - 1);
        expect("uploads at once", "uploaded".equals(at(whole, "status", "uploadStatus")), whole);

        List<String> films = new ArrayList<>(ids(wholes));
        for (boolean known : new boolean[] {true, false}) {
            List<GenericJson> pieces = write(FILMS, number -> {
                Call call = post(VIDEOS, PART, video("Pieces"));
                return (known ? call.media(film, false) : call.stream(film)).execute();
            });
            for (String id : ids(pieces)) {
                GenericJson found = new Call(api, "GET", "videos", null).with("part", "fileDetails").with("id", id).execute();
                String size = at(found, "items", 0, "fileDetails", "fileSize");
                expect("", size.equals("" + film.length), found);
            }
            films.addAll(ids(pieces));
            List<String> listed = ids(whole("playlistItems", "snippet", "playlistId", uploads), "snippet", "resourceId", "videoId");
            String seen = listed.size() + " of " + films.size();
            expect(known ? "uploads in pieces" : "uploads a stream", holds(listed, films, before, again), seen);
        }
        return films;
    }

    private static void walkComments(String film) throws Exception {
        List<GenericJson> threads = write(COUNT, number -> {
            Object comment = snippet(Map.of("textOriginal", "Thread " + number));
            return post("commentThreads", "snippet", snippet(Map.of("videoId", film, "topLevelComment", comment))).execute();
        });
        String parent = ids(threads).get(0);
        List<GenericJson> replies = write(COUNT, number ->
            post("comments", "snippet", snippet(Map.of("parentId", parent, "textOriginal", "Reply " + number))).execute());
        List<String> listed = ids(whole("commentThreads", "snippet", "videoId", film));
        List<String> replied = ids(whole("comments", "snippet", "parentId", parent));
        boolean all = holds(listed, ids(threads), List.of(), again) && holds(replied, ids(replies), List.of(), again);
        expect("comments", all, listed.size() + " " + replied.size());
    }

    /** All other channels are members of this one too; it subscribes to each, and to none in the end. */
    private static void walkSubscriptions(String own) throws Exception {
        List<String> members = ids(whole("members", "snippet"), "snippet", "memberDetails", "channelId");
        List<String> channels = ids(whole("search", "snippet", "type", "channel"), "id", "channelId");
        expect("", holds(channels, members, List.of(own), 0), channels.size() + " " + members.size());
        write(members.size(), number -> {
            Object channel = Map.of("kind", "youtube#channel", "channelId", members.get(number));
            return unlessRefused("subscriptionDuplicate", post("subscriptions", "snippet", snippet(Map.of("resourceId", channel))));
        });
        List<GenericJson> subscriptions = whole("subscriptions", "snippet", "mine", true);
        boolean all = holds(ids(subscriptions, "snippet", "resourceId", "channelId"), members, List.of(), 0);
        write(subscriptions.size(), number -> {
            Call call = new Call(api, "DELETE", "subscriptions", null).with("id", subscriptions.get(number).get("id"));
            return unlessRefused("subscriptionNotFound", call);
        });
        boolean none = whole("subscriptions", "snippet", "mine", true).isEmpty();
        expect("subscribes", all && none, all + " " + none + " " + members.size());
    }

    private static void walkBatches(String film, String url, String token) throws Exception {
        List<Object> told = new ArrayList<>();
        Call wrong = new Call(api, "GET", "videos", null).with("part", "id").with("maxResults", 99);
        Call right = new Call(api, "GET", "videos", null).with("part", "id").with("id", film);
        batch(url, token, "kind", told, List.of(right, wrong, post("playlists", PART, snippet(Map.of("title", "Batched")))));
        boolean mixed = told.equals(Arrays.asList("youtube#videoListResponse", 400, "youtube#playlist"));

        GenericJson list = post("playlists", PART, snippet(Map.of("title", "Filled at once"))).execute();
        List<Call> calls = new ArrayList<>();
        for (int count = 0; count < COUNT; count++) {
            calls.add(post("playlistItems", PART, item(list.get("id"), film)));
        }
        List<Object> written = new ArrayList<>();
        batch(url, token, "id", written, calls);
        writes += COUNT;
        List<String> listed = ids(whole("playlistItems", "id", "playlistId", list.get("id")));
        expect("batches", mixed && written.size() == COUNT && listed.equals(written), told + " " + written.size() + " " + listed.size());
    }

    /** A batch of these calls; keeps a member of each answer, or the code of a refusal. */
    private static void batch(String url, String token, String member, List<Object> told, List<Call> calls) throws IOException {
        BatchRequest batch = new BatchRequest(new NetHttpTransport(), request -> request.getHeaders().setAuthorization("Bearer " + token));
        batch.setBatchUrl(new GenericUrl(url + "batch"));
        for (Call call : calls) {
            call.queue(batch, new JsonBatchCallback<>() {
                @Override
                public void onSuccess(GenericJson found, HttpHeaders headers) {
                    told.add(found.get(member));
                }

                @Override
                public void onFailure(GoogleJsonError error, HttpHeaders headers) {
                    told.add(error.getCode());
                }
            });
        }
        batch.execute();
    }
}
