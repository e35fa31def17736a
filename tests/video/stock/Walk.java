import com.google.api.client.googleapis.batch.BatchRequest;
import com.google.api.client.googleapis.batch.json.JsonBatchCallback;
import com.google.api.client.googleapis.json.GoogleJsonError;
import com.google.api.client.googleapis.json.GoogleJsonResponseException;
import com.google.api.client.googleapis.services.json.AbstractGoogleJsonClient;
import com.google.api.client.googleapis.services.json.AbstractGoogleJsonClientRequest;
import com.google.api.client.http.ByteArrayContent;
import com.google.api.client.http.HttpHeaders;
import com.google.api.client.http.HttpRequestInitializer;
import com.google.api.client.http.InputStreamContent;
import com.google.api.client.http.javanet.NetHttpTransport;
import com.google.api.client.json.GenericJson;
import com.google.api.client.json.JsonObjectParser;
import com.google.api.client.json.gson.GsonFactory;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The client of Java, unmodified, in its generic form: it writes, uploads, pages, batches, and is told why it is refused. */
public final class Walk {
    private static final String PART = "snippet,status";

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
        System.out.println("ok " + step);
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
        Client api = (Client) new Client.Builder(url, request -> {
            request.getHeaders().setAuthorization("Bearer " + token);
            request.setParser(new JsonObjectParser(new GsonFactory()));
        }).setApplicationName("walk").build();

        GenericJson list = new Call(api, "POST", "playlists", snippet(Map.of("title", "Java's"))).with("part", PART).execute();
        expect("writes", "Java's".equals(at(list, "snippet", "title")), list);

        byte[] film = Files.readAllBytes(Path.of(arguments[0]));
        GenericJson whole = new Call(api, "POST", "/upload/youtube/v3/videos", video("Whole")).with("part", PART).media(film, true).execute();
        expect("uploads at once", "uploaded".equals(at(whole, "status", "uploadStatus")), whole);

        for (boolean known : new boolean[] {true, false}) {
            Call call = new Call(api, "POST", "/upload/youtube/v3/videos", video("Pieces")).with("part", PART);
            GenericJson pieces = (known ? call.media(film, false) : call.stream(film)).execute();
            GenericJson found = new Call(api, "GET", "videos", null).with("part", "fileDetails").with("id", pieces.get("id")).execute();
            String size = at(found, "items", 0, "fileDetails", "fileSize");
            expect(known ? "uploads in pieces" : "uploads a stream", size.equals("" + film.length), found);
        }

        Map<String, Object> resource = Map.of("kind", "youtube#video", "videoId", whole.get("id"));
        for (int count = 0; count < 3; count++) {
            Object item = snippet(Map.of("playlistId", list.get("id"), "resourceId", resource));
            new Call(api, "POST", "playlistItems", item).with("part", PART).execute();
        }
        int pages = 0;
        int items = 0;
        String next = null;
        do {
            GenericJson page = new Call(api, "GET", "playlistItems", null).with("part", PART).with("playlistId", list.get("id"))
                .with("maxResults", 2).with("pageToken", next).execute();
            pages++;
            items += ((List<?>) page.get("items")).size();
            next = (String) page.get("nextPageToken");
        } while (next != null);
        expect("pages", pages == 2 && items == 3, pages + " " + items);

        List<Object> told = new ArrayList<>();
        JsonBatchCallback<GenericJson> callback = new JsonBatchCallback<>() {
            @Override
            public void onSuccess(GenericJson found, HttpHeaders headers) {
                told.add(found.get("kind"));
            }

            @Override
            public void onFailure(GoogleJsonError error, HttpHeaders headers) {
                told.add(error.getCode());
            }
        };
        BatchRequest batch = new BatchRequest(new NetHttpTransport(), request -> request.getHeaders().setAuthorization("Bearer " + token));
        batch.setBatchUrl(new com.google.api.client.http.GenericUrl(url + "batch"));
        new Call(api, "GET", "videos", null).with("part", "id").with("id", whole.get("id")).queue(batch, callback);
        new Call(api, "GET", "videos", null).with("part", "id").with("maxResults", 99).queue(batch, callback);
        new Call(api, "POST", "playlists", snippet(Map.of("title", "Batched"))).with("part", PART).queue(batch, callback);
        batch.execute();
        expect("batches", told.equals(Arrays.asList("youtube#videoListResponse", 400, "youtube#playlist")), told);

        try {
            Object untitled = Map.of("id", list.get("id"), "snippet", Map.of("title", ""));
            new Call(api, "PUT", "playlists", untitled).with("part", PART).execute();
            throw new AssertionError("nothing was refused");
        } catch (GoogleJsonResponseException refusal) {
            expect("is told why", refusal.getContent().contains("playlistTitleRequired"), refusal.getContent());
        }
    }
}
