# The client of Ruby, unmodified: it writes, uploads, pages, batches, and is told why it is refused. It walks as long as the environment says.
require 'google/apis/youtube_v3'
require 'stringio'

Youtube = Google::Apis::YoutubeV3
PART = 'snippet,status'
URL = ENV.fetch('TRIPTYCH_VIDEO_URL')
COUNT = Integer(ENV.fetch('TRIPTYCH_WALK', '3'))
FILMS = (COUNT + 9) / 10
SIZE = COUNT > 50 ? 50 : 2
# What says that no answer came: the service may be killed at any time, and comes back.
UNANSWERED = [
  Google::Apis::ServerError, Google::Apis::TransmissionError, SystemCallError, EOFError, HTTPClient::KeepAliveDisconnected
].freeze

$stdout.sync = true
$again = $writes = $pages = 0

def expect(step, holds, *seen)
  abort("#{step}: #{seen.inspect}") unless holds
  puts "ok #{step}" if step
end

# Calls until there is an answer. Where none came, waits for the word that the service is back; there is none where nobody has killed it.
def answer
  yield
rescue *UNANSWERED
  puts 'unanswered'
  raise unless $stdin.gets
  $again += 1
  retry
end

# Writes so often, says when half is written, and keeps what was acknowledged.
def write(times)
  Array.new(times) do |number|
    puts 'half' if number == times / 2
    $writes += 1
    answer { yield number }
  end
end

# Reads a list to its end.
def whole
  pages = []
  items = API.fetch_all do |token|
    $pages += 1
    pages << yield(max_results: SIZE, page_token: token)
    pages.last
  end
  expect(nil, items.to_a.length == pages.sum { |page| Array(page.items).length })
  items.to_a
end

# Whether a list has each once of what was acknowledged, and beside it what was there before and at most what was written without an answer.
def holds(listed, written, before = [], unanswered = $again)
  ours = written + before
  listed.uniq == listed && (ours - listed).empty? && (listed.length - ours.length).between?(0, unanswered)
end

# What was written without an answer is refused the second time.
def unless_refused(reason)
  yield
rescue Google::Apis::ClientError => error
  raise unless $again.positive? && error.body.include?(reason)
end

def video(title)
  Youtube::Video.new(snippet: { title: title, category_id: '22' })
end

def item(list, video)
  Youtube::PlaylistItem.new(snippet: { playlist_id: list, resource_id: { kind: 'youtube#video', video_id: video } })
end

API = Youtube::YouTubeService.new
API.root_url = "#{URL}/"
API.authorization = ENV.fetch('TRIPTYCH_VIDEO_TOKEN')

def lists
  whole { |page| API.list_playlists(PART, mine: true, **page) }.map(&:id)
end
before = lists
made = write(FILMS) { API.insert_playlist(PART, Youtube::Playlist.new(snippet: { title: "Ruby's" })) }
list = made.last
expect('writes', list.snippet.title == "Ruby's" && holds(lists, made.map(&:id), before), list)

mine = API.list_channels('contentDetails', mine: true).items[0]
UPLOADS = mine.content_details.related_playlists.uploads
def uploads
  whole { |page| API.list_playlist_items(PART, playlist_id: UPLOADS, **page) }.map { |item| item.snippet.resource_id.video_id }
end
before = uploads
film = File.binread(ARGV[0])
wholes = write(FILMS) { API.insert_video(PART, video('Whole'), upload_source: StringIO.new(film), content_type: 'video/mp4') }
whole_film = wholes.last
expect('uploads at once', whole_film.snippet.title == 'Whole' && whole_film.status.upload_status == 'uploaded', whole_film)

# The stock client sends one piece; that the connection breaks in the middle of it is what its protocol is for.
class Breaking < StringIO
  attr_reader :broke

  def read(length = nil, buffer = nil)
    if pos >= 512 * 1024 && !@broke
      @broke = true
      raise HTTPClient::TimeoutError
    end
    buffer ? super(length, buffer) : super(length)
  end
end
broke = true
pieces = write(FILMS) do
  source = Breaking.new(film)
  sent = API.insert_video(PART, video('Pieces'), upload_source: source, content_type: 'video/mp4', options: { retries: 3 })
  broke &&= source.broke
  sent
end
sizes = pieces.map { |piece| API.list_videos('fileDetails', id: piece.id).items[0].file_details.file_size }
uploaded = (wholes + pieces).map(&:id)
expect('uploads in pieces', broke && sizes.uniq == [film.bytesize] && holds(uploads, uploaded, before), broke, sizes)

def liked
  whole { |page| API.list_videos('id', my_rating: 'like', **page) }.map(&:id)
end
before = liked
write(uploaded.length) { |number| API.rate_video(uploaded[number], 'like') }
expect('rates', holds(liked, uploaded, before, 0), uploaded)

added = write(COUNT) { API.insert_playlist_item(PART, item(list.id, uploaded.last)) }
read = $pages
items = whole { |page| API.list_playlist_items(PART, playlist_id: list.id, **page) }
dense = items.map { |item| item.snippet.position } == [*0...items.length]
full = $pages - read == (items.length + SIZE - 1) / SIZE
expect('pages', dense && full && holds(items.map(&:id), added.map(&:id)), dense, $pages - read, items.length)

threads = write(COUNT) do |number|
  comment = { snippet: { text_original: "Thread #{number}" } }
  thread = Youtube::CommentThread.new(snippet: { video_id: uploaded.last, top_level_comment: comment })
  API.insert_comment_thread('snippet', thread).id
end
replies = write(COUNT) do |number|
  API.insert_comment('snippet', Youtube::Comment.new(snippet: { parent_id: threads[0], text_original: "Reply #{number}" })).id
end
listed = whole { |page| API.list_comment_threads('snippet', video_id: uploaded.last, **page) }.map(&:id)
replied = whole { |page| API.list_comments('snippet', parent_id: threads[0], **page) }.map(&:id)
expect('comments', holds(listed, threads) && holds(replied, replies), listed.length, replied.length)

# All other channels are members of this one too; it subscribes to each, and to none in the end.
members = whole { |page| API.list_members('snippet', **page) }.map { |member| member.snippet.member_details.channel_id }
channels = whole { |page| API.list_searches('snippet', type: 'channel', **page) }.map { |found| found.id.channel_id }
expect(nil, holds(channels, members, [mine.id], 0), channels.length, members.length)
write(members.length) do |number|
  resource = { kind: 'youtube#channel', channel_id: members[number] }
  unless_refused('subscriptionDuplicate') { API.insert_subscription('snippet', Youtube::Subscription.new(snippet: { resource_id: resource })) }
end
subscriptions = whole { |page| API.list_subscriptions('snippet', mine: true, **page) }
all = holds(subscriptions.map { |subscription| subscription.snippet.resource_id.channel_id }, members, [], 0)
write(subscriptions.length) do |number|
  unless_refused('subscriptionNotFound') { API.delete_subscription(subscriptions[number].id) }
end
none = whole { |page| API.list_subscriptions('snippet', mine: true, **page) }.empty?
expect('subscribes', all && none, all, none, members.length)

done = whole { |page| API.list_activities('snippet', mine: true, **page) }.map(&:id)
expect('activities', done.length >= COUNT && done.uniq == done, done.length)

told = []
API.batch do |batch|
  batch.list_videos('snippet', id: whole_film.id) { |found, error| told << (error || found.items[0].snippet.title) }
  batch.list_videos('id', id: pieces[0].id, max_results: 99) { |_, error| told << error.status_code }
  batch.insert_playlist(PART, Youtube::Playlist.new(snippet: { title: 'Batched' })) { |made, error| told << (error || made.snippet.title) }
end
batched = API.insert_playlist(PART, Youtube::Playlist.new(snippet: { title: 'Filled at once' }))
written = []
API.batch do |batch|
  COUNT.times { batch.insert_playlist_item(PART, item(batched.id, whole_film.id)) { |made, error| written << (error || made.id) } }
end
$writes += COUNT
listed = whole { |page| API.list_playlist_items(PART, playlist_id: batched.id, **page) }.map(&:id)
expect('batches', told == ['Whole', 400, 'Batched'] && written.length == COUNT && listed == written, told, written.length, listed.length)

list.snippet.title = ''
begin
  API.update_playlist(PART, list)
  abort('nothing was refused')
rescue Google::Apis::ClientError => error
  expect('is told why', error.body.include?('playlistTitleRequired'), error.body)
end
puts "walked #{uploaded.length} uploads, #{$writes - uploaded.length} other writes, #{$pages} pages, a batch of #{COUNT}, #{$again} calls again"
