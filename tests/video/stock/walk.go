// The client of Go, unmodified: it writes, uploads, pages, and is told why it is refused. It walks as long as the environment says.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
	"google.golang.org/api/youtube/v3"
)

var part = []string{"snippet", "status"}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func expect(step string, holds bool, seen ...any) {
	if !holds {
		fmt.Fprintln(os.Stderr, step, seen)
		os.Exit(1)
	}
	if step != "" {
		fmt.Println("ok", step)
	}
}

func video(title string) *youtube.Video {
	return &youtube.Video{Snippet: &youtube.VideoSnippet{Title: title, CategoryId: "22"}}
}

// A connection that breaks in the middle of the first piece of each upload, once.
type breaking struct{ broke bool }

func (way *breaking) RoundTrip(request *http.Request) (*http.Response, error) {
	if way.broke || !strings.HasPrefix(request.Header.Get("Content-Range"), "bytes 0-262143/") {
		return http.DefaultTransport.RoundTrip(request)
	}
	way.broke = true
	request = request.Clone(request.Context())
	request.Body = io.NopCloser(io.MultiReader(io.LimitReader(request.Body, 100_000), broken{}))
	// What is answered to half of a piece does not come back either.
	if response, err := http.DefaultTransport.RoundTrip(request); err == nil {
		response.Body.Close()
	}
	return nil, io.ErrUnexpectedEOF
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// Writes of each kind, calls of writes, calls that were made again because no answer came, and pages that were read.
var count, writes, again, read = 3, 0, 0, 0

var words = bufio.NewReader(os.Stdin)

// Says that no answer came, and waits for the word that the service is back. There is none where nobody has killed it.
func isBack() bool {
	fmt.Println("unanswered")
	_, err := words.ReadString('\n')
	return err == nil
}

// Calls until there is an answer: the service may be killed at any time, and comes back.
func answer[T any](call func() (T, error)) T {
	for ; ; again++ {
		value, err := call()
		var refusal *googleapi.Error
		if err == nil || errors.As(err, &refusal) && refusal.Code < 500 || !isBack() {
			return must(value, err)
		}
	}
}

// Writes so often, says when half is written, and keeps the ids that were acknowledged.
func write(times int, one func(number int) (string, error)) []string {
	ids := []string{}
	for number := 0; number < times; number++ {
		if number == times/2 {
			fmt.Println("half")
		}
		ids, writes = append(ids, answer(func() (string, error) { return one(number) })), writes+1
	}
	return ids
}

// Reads a list to its end: each page's ids, and how many pages there were.
func whole(pages func(page func([]string) error) error) (ids []string, number int) {
	err := pages(func(page []string) error {
		ids, number, read = append(ids, page...), number+1, read+1
		return nil
	})
	must(ids, err)
	return
}

func ids[T any](items []T, id func(T) string) (found []string) {
	for _, item := range items {
		found = append(found, id(item))
	}
	return
}

// Whether a list has each once of what was acknowledged, and beside it what was there before and at most what was written without an answer.
func holds(listed, written, before []string, unanswered int) bool {
	seen := map[string]bool{}
	for _, id := range listed {
		if seen[id] {
			return false
		}
		seen[id] = true
	}
	for _, id := range append(append([]string{}, written...), before...) {
		if !seen[id] {
			return false
		}
	}
	beside := len(listed) - len(written) - len(before)
	return beside >= 0 && beside <= unanswered
}

func main() {
	ctx := context.Background()
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: os.Getenv("TRIPTYCH_VIDEO_TOKEN")})
	endpoint := option.WithEndpoint(os.Getenv("TRIPTYCH_VIDEO_URL") + "/")
	way := &breaking{}
	client := &http.Client{Transport: &oauth2.Transport{Source: token, Base: way}}
	api := must(youtube.NewService(ctx, endpoint, option.WithHTTPClient(client)))
	if walk := os.Getenv("TRIPTYCH_WALK"); walk != "" {
		count = must(strconv.Atoi(walk))
	}
	films, size := (count+9)/10, int64(2)
	if count > 50 {
		size = 50
	}

	mine := must(api.Channels.List([]string{"contentDetails"}).Mine(true).Do()).Items[0]
	items := func(list string) ([]string, int) {
		position := int64(0)
		return whole(func(page func([]string) error) error {
			return api.PlaylistItems.List(part).PlaylistId(list).MaxResults(size).Pages(ctx,
				func(found *youtube.PlaylistItemListResponse) error {
					return page(ids(found.Items, func(item *youtube.PlaylistItem) string {
						if list == mine.ContentDetails.RelatedPlaylists.Uploads {
							return item.Snippet.ResourceId.VideoId
						}
						expect("", item.Snippet.Position == position, item.Snippet.Position, position)
						position++
						return item.Id
					}))
				})
		})
	}
	lists := func() (found []string) {
		found, _ = whole(func(page func([]string) error) error {
			return api.Playlists.List(part).Mine(true).MaxResults(size).Pages(ctx, func(found *youtube.PlaylistListResponse) error {
				return page(ids(found.Items, func(list *youtube.Playlist) string { return list.Id }))
			})
		})
		return
	}
	liked := func() (found []string) {
		found, _ = whole(func(page func([]string) error) error {
			return api.Videos.List(part).MyRating("like").MaxResults(size).Pages(ctx, func(found *youtube.VideoListResponse) error {
				return page(ids(found.Items, func(video *youtube.Video) string { return video.Id }))
			})
		})
		return
	}

	before, list := lists(), (*youtube.Playlist)(nil)
	made := write(films, func(int) (string, error) {
		var err error
		list, err = api.Playlists.Insert(part, &youtube.Playlist{Snippet: &youtube.PlaylistSnippet{Title: "Go's"}}).Do()
		if err != nil {
			return "", err
		}
		return list.Id, nil
	})
	expect("writes", list.Snippet.Title == "Go's" && holds(lists(), made, before, again), list)

	film := must(os.ReadFile(os.Args[1]))
	before, _ = items(mine.ContentDetails.RelatedPlaylists.Uploads)
	var last *youtube.Video
	upload := func(title string, chunk int) func(int) (string, error) {
		return func(int) (string, error) {
			var err error
			way.broke = false
			last, err = api.Videos.Insert(part, video(title)).
				Media(strings.NewReader(string(film)), googleapi.ContentType("video/mp4"), googleapi.ChunkSize(chunk)).Do()
			if err != nil {
				return "", err
			}
			return last.Id, nil
		}
	}
	uploads := write(films, upload("Whole", 0))
	expect("uploads at once", last.Snippet.Title == "Whole" && last.Status.UploadStatus == "uploaded", last)

	pieces := write(films, upload("Pieces", 256*1024))
	for _, id := range pieces {
		details := must(api.Videos.List([]string{"fileDetails"}).Id(id).Do())
		expect("", details.Items[0].FileDetails.FileSize == uint64(len(film)), details)
	}
	uploads = append(uploads, pieces...)
	listed, _ := items(mine.ContentDetails.RelatedPlaylists.Uploads)
	expect("uploads in pieces", way.broke && holds(listed, uploads, before, again), len(listed), len(uploads), again)

	before = liked()
	write(len(uploads), func(number int) (string, error) { return "", api.Videos.Rate(uploads[number], "like").Do() })
	expect("rates", holds(liked(), uploads, before, 0), uploads)

	added := write(count, func(int) (string, error) {
		item := &youtube.PlaylistItem{Snippet: &youtube.PlaylistItemSnippet{
			PlaylistId: list.Id, ResourceId: &youtube.ResourceId{Kind: "youtube#video", VideoId: pieces[0]}}}
		item, err := api.PlaylistItems.Insert(part, item).Do()
		if err != nil {
			return "", err
		}
		return item.Id, nil
	})
	listed, pages := items(list.Id)
	expect("pages", holds(listed, added, nil, again) && pages == (len(listed)+int(size)-1)/int(size), pages, len(listed), again)
	comments(api, pieces[0], size)
	subscriptions(api, mine.Id, size)
	done, _ := whole(func(page func([]string) error) error {
		return api.Activities.List(part[:1]).Mine(true).MaxResults(size).Pages(ctx, func(found *youtube.ActivityListResponse) error {
			return page(ids(found.Items, func(activity *youtube.Activity) string { return activity.Id }))
		})
	})
	expect("activities", len(done) >= count && holds(done, nil, nil, len(done)), len(done))

	list.Snippet.Title = ""
	_, err := api.Playlists.Update(part, list).Do()
	var refusal *googleapi.Error
	expect("is told why", errors.As(err, &refusal) && refusal.Errors[0].Reason == "playlistTitleRequired", err)
	fmt.Printf("walked %d uploads, %d other writes, %d pages, %d calls again\n", len(uploads), writes-len(uploads), read, again)
}

// Writes threads about a video and replies to one of them, and reads both to their ends.
func comments(api *youtube.Service, video string, size int64) {
	ctx, snippet := context.Background(), part[:1]
	threads := write(count, func(number int) (string, error) {
		comment := &youtube.Comment{Snippet: &youtube.CommentSnippet{TextOriginal: fmt.Sprint("Thread ", number)}}
		thread := &youtube.CommentThread{Snippet: &youtube.CommentThreadSnippet{VideoId: video, TopLevelComment: comment}}
		thread, err := api.CommentThreads.Insert(snippet, thread).Do()
		if err != nil {
			return "", err
		}
		return thread.Id, nil
	})
	replies := write(count, func(number int) (string, error) {
		reply := &youtube.Comment{Snippet: &youtube.CommentSnippet{ParentId: threads[0], TextOriginal: fmt.Sprint("Reply ", number)}}
		reply, err := api.Comments.Insert(snippet, reply).Do()
		if err != nil {
			return "", err
		}
		return reply.Id, nil
	})
	listed, _ := whole(func(page func([]string) error) error {
		return api.CommentThreads.List(snippet).VideoId(video).MaxResults(size).Pages(ctx, func(found *youtube.CommentThreadListResponse) error {
			return page(ids(found.Items, func(thread *youtube.CommentThread) string { return thread.Id }))
		})
	})
	replied, _ := whole(func(page func([]string) error) error {
		return api.Comments.List(snippet).ParentId(threads[0]).MaxResults(size).Pages(ctx, func(found *youtube.CommentListResponse) error {
			return page(ids(found.Items, func(comment *youtube.Comment) string { return comment.Id }))
		})
	})
	expect("comments", holds(listed, threads, nil, again) && holds(replied, replies, nil, again), len(listed), len(replied), again)
}

// Subscribes to all other channels, which are members of this one too, and to none in the end.
func subscriptions(api *youtube.Service, own string, size int64) {
	ctx, snippet := context.Background(), part[:1]
	found, _ := whole(func(page func([]string) error) error {
		return api.Search.List(snippet).Type("channel").MaxResults(size).Pages(ctx, func(found *youtube.SearchListResponse) error {
			return page(ids(found.Items, func(found *youtube.SearchResult) string { return found.Id.ChannelId }))
		})
	})
	members, _ := whole(func(page func([]string) error) error {
		return api.Members.List(snippet).MaxResults(size).Pages(ctx, func(found *youtube.MemberListResponse) error {
			return page(ids(found.Items, func(member *youtube.Member) string { return member.Snippet.MemberDetails.ChannelId }))
		})
	})
	expect("", holds(found, members, []string{own}, 0), len(found), len(members))

	names := map[string]string{}
	listed := func() (found []string) {
		found, _ = whole(func(page func([]string) error) error {
			return api.Subscriptions.List(snippet).Mine(true).MaxResults(size).Pages(ctx, func(found *youtube.SubscriptionListResponse) error {
				return page(ids(found.Items, func(subscription *youtube.Subscription) string {
					names[subscription.Snippet.ResourceId.ChannelId] = subscription.Id
					return subscription.Snippet.ResourceId.ChannelId
				}))
			})
		})
		return
	}
	// What was written without an answer is refused the second time.
	unless := func(reason string, err error) error {
		var refusal *googleapi.Error
		if again > 0 && errors.As(err, &refusal) && len(refusal.Errors) == 1 && refusal.Errors[0].Reason == reason {
			return nil
		}
		return err
	}
	write(len(members), func(number int) (string, error) {
		resource := &youtube.ResourceId{Kind: "youtube#channel", ChannelId: members[number]}
		subscription := &youtube.Subscription{Snippet: &youtube.SubscriptionSnippet{ResourceId: resource}}
		_, err := api.Subscriptions.Insert(snippet, subscription).Do()
		return "", unless("subscriptionDuplicate", err)
	})
	all := holds(listed(), members, nil, 0)
	write(len(members), func(number int) (string, error) {
		return "", unless("subscriptionNotFound", api.Subscriptions.Delete(names[members[number]]).Do())
	})
	expect("subscribes", all && len(listed()) == 0, all, len(members))
}
