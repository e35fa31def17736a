// Types of the client. `browser` has the shape of the extension namespaces, so code written against them fits.

export interface Options {
  /** Where the service is, such as `http://127.0.0.1:7803`. */
  url: string;
  /** The token of the extension. */
  token: string;
  /** The token of the control side, if `control` is used. */
  controlToken?: string;
  /** Where the code runs; a service worker without it. */
  context?: { type: 'worker' } | { type: 'popup'; windowId: number } | { type: 'page'; tabId: number };
}

export interface ExtensionEvent<Listener extends (...values: any[]) => unknown> {
  addListener(listener: Listener): void;
  removeListener(listener: Listener): void;
  hasListener(listener: Listener): boolean;
  hasListeners(): boolean;
}

export interface MutedInfo {
  muted: boolean;
  reason?: 'user' | 'capture' | 'extension';
  extensionId?: string;
}

export interface Tab {
  active: boolean;
  audible?: boolean;
  autoDiscardable: boolean;
  discarded: boolean;
  favIconUrl?: string;
  frozen: boolean;
  groupId: number;
  height?: number;
  highlighted: boolean;
  id?: number;
  incognito: boolean;
  index: number;
  lastAccessed: number;
  mutedInfo?: MutedInfo;
  openerTabId?: number;
  pendingUrl?: string;
  pinned: boolean;
  selected: boolean;
  sessionId?: string;
  splitViewId?: number;
  status?: 'unloaded' | 'loading' | 'complete';
  title?: string;
  url?: string;
  width?: number;
  windowId: number;
}

export interface ZoomSettings {
  mode?: 'automatic' | 'manual' | 'disabled';
  scope?: 'per-origin' | 'per-tab';
  defaultZoomFactor?: number;
}

export interface Port {
  readonly name: string;
  readonly sender?: unknown;
  postMessage(message: unknown): void;
  disconnect(): void;
  readonly onMessage: ExtensionEvent<(message: any, port: Port) => void>;
  readonly onDisconnect: ExtensionEvent<(port: Port) => void>;
}

/** The part of the page that is drawn, with its scale: both in pixels of the page. */
export interface ImageDetails {
  format?: 'jpeg' | 'png';
  quality?: number;
  rect?: { x: number; y: number; width: number; height: number };
  scale?: number;
}

export interface CreateProperties {
  active?: boolean;
  index?: number;
  openerTabId?: number;
  pinned?: boolean;
  selected?: boolean;
  url?: string;
  windowId?: number;
}

export interface UpdateProperties {
  active?: boolean;
  autoDiscardable?: boolean;
  highlighted?: boolean;
  muted?: boolean;
  openerTabId?: number;
  pinned?: boolean;
  selected?: boolean;
  url?: string;
}

export interface QueryInfo {
  active?: boolean;
  audible?: boolean;
  autoDiscardable?: boolean;
  currentWindow?: boolean;
  discarded?: boolean;
  frozen?: boolean;
  groupId?: number;
  highlighted?: boolean;
  index?: number;
  lastFocusedWindow?: boolean;
  muted?: boolean;
  pinned?: boolean;
  splitViewId?: number;
  status?: 'unloaded' | 'loading' | 'complete';
  title?: string;
  url?: string | string[];
  windowId?: number;
  windowType?: 'normal' | 'popup' | 'panel' | 'app' | 'custom-tab' | 'devtools';
}

export interface Tabs {
  readonly MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND: 2;
  readonly SPLIT_VIEW_ID_NONE: -1;
  readonly TAB_ID_NONE: -1;
  readonly TAB_INDEX_NONE: -1;
  readonly MutedInfoReason: { readonly CAPTURE: 'capture'; readonly EXTENSION: 'extension'; readonly USER: 'user' };
  readonly TabStatus: { readonly COMPLETE: 'complete'; readonly LOADING: 'loading'; readonly UNLOADED: 'unloaded' };
  readonly WindowType: {
    readonly APP: 'app';
    readonly CUSTOM_TAB: 'custom-tab';
    readonly DEVTOOLS: 'devtools';
    readonly NORMAL: 'normal';
    readonly PANEL: 'panel';
    readonly POPUP: 'popup';
  };
  readonly ZoomSettingsMode: { readonly AUTOMATIC: 'automatic'; readonly DISABLED: 'disabled'; readonly MANUAL: 'manual' };
  readonly ZoomSettingsScope: { readonly PER_ORIGIN: 'per-origin'; readonly PER_TAB: 'per-tab' };
  captureVisibleTab(windowId?: number, options?: ImageDetails): Promise<string>;
  captureVisibleTab(options: ImageDetails): Promise<string>;
  connect(tabId: number, connectInfo?: { documentId?: string; frameId?: number; name?: string }): Port;
  create(properties: CreateProperties): Promise<Tab>;
  detectLanguage(tabId?: number): Promise<string>;
  discard(tabId?: number): Promise<Tab | undefined>;
  duplicate(tabId: number): Promise<Tab | undefined>;
  get(tabId: number): Promise<Tab>;
  getCurrent(): Promise<Tab | undefined>;
  getZoom(tabId?: number): Promise<number>;
  getZoomSettings(tabId?: number): Promise<ZoomSettings>;
  goBack(tabId?: number): Promise<void>;
  goForward(tabId?: number): Promise<void>;
  group(options: { createProperties?: { windowId?: number }; groupId?: number; tabIds: number | number[] }): Promise<number>;
  highlight(info: { tabs: number | number[]; windowId?: number }): Promise<unknown>;
  move(tabId: number, properties: { index: number; windowId?: number }): Promise<Tab>;
  /** One tab alone is given by itself, also where a list asked for it. */
  move(tabIds: number[], properties: { index: number; windowId?: number }): Promise<Tab | Tab[]>;
  query(info: QueryInfo): Promise<Tab[]>;
  reload(tabId?: number, properties?: { bypassCache?: boolean }): Promise<void>;
  remove(tabIds: number | number[]): Promise<void>;
  sendMessage(tabId: number, message: unknown, options?: { documentId?: string; frameId?: number }): Promise<any>;
  setZoom(tabId: number, zoomFactor: number): Promise<void>;
  setZoom(zoomFactor: number): Promise<void>;
  setZoomSettings(tabId: number, settings: ZoomSettings): Promise<void>;
  setZoomSettings(settings: ZoomSettings): Promise<void>;
  ungroup(tabIds: number | number[]): Promise<void>;
  update(tabId: number, properties: UpdateProperties): Promise<Tab | undefined>;
  update(properties: UpdateProperties): Promise<Tab | undefined>;
  readonly onActivated: ExtensionEvent<(info: { tabId: number; windowId: number }) => void>;
  readonly onAttached: ExtensionEvent<(tabId: number, info: { newPosition: number; newWindowId: number }) => void>;
  readonly onCreated: ExtensionEvent<(tab: Tab) => void>;
  readonly onDetached: ExtensionEvent<(tabId: number, info: { oldPosition: number; oldWindowId: number }) => void>;
  readonly onHighlighted: ExtensionEvent<(info: { tabIds: number[]; windowId: number }) => void>;
  readonly onMoved: ExtensionEvent<(tabId: number, info: { fromIndex: number; toIndex: number; windowId: number }) => void>;
  readonly onRemoved: ExtensionEvent<(tabId: number, info: { isWindowClosing: boolean; windowId: number }) => void>;
  readonly onReplaced: ExtensionEvent<(addedTabId: number, removedTabId: number) => void>;
  readonly onUpdated: ExtensionEvent<(tabId: number, change: Partial<Tab>, tab: Tab) => void>;
  readonly onZoomChange: ExtensionEvent<
    (change: { tabId: number; newZoomFactor: number; oldZoomFactor: number; zoomSettings: ZoomSettings }) => void
  >;
}

export interface InjectionTarget {
  tabId: number;
  allFrames?: boolean;
  documentIds?: string[];
  frameIds?: number[];
}

/** Code that runs in a page: a function or files. Simulated pages run none. */
export interface ScriptInjection {
  target: InjectionTarget;
  func?: (...args: any[]) => unknown;
  args?: unknown[];
  files?: string[];
  injectImmediately?: boolean;
  world?: 'ISOLATED' | 'MAIN';
}

export interface CSSInjection {
  target: InjectionTarget;
  css?: string;
  files?: string[];
  origin?: 'AUTHOR' | 'USER';
}

export interface Scripting {
  executeScript(injection: ScriptInjection): Promise<{ documentId: string; frameId: number; result?: any }[]>;
  insertCSS(injection: CSSInjection): Promise<void>;
  removeCSS(injection: CSSInjection): Promise<void>;
}

export interface Runtime {
  readonly id: string;
  readonly lastError: { message: string } | undefined;
  getManifest(): any;
  getURL(path: string): string;
}

/** The namespaces of one extension. Every operation also takes a callback as its last argument. */
export interface Browser {
  readonly tabs: Tabs;
  readonly windows: any;
  readonly tabGroups: any;
  readonly sessions: any;
  readonly scripting: Scripting;
  readonly runtime: Runtime;
}

export interface MessageSender {
  /** The id of the extension that sent it. */
  id?: string;
}

/** A content script in a frame of a tab. It ends with its document. */
export interface ContentScript {
  readonly tabId: number;
  /** 0 is the outermost frame. */
  readonly frameId: number;
  readonly documentId: string;
  readonly url: string;
  /** The files that the manifest names; none for an attached one. */
  readonly files: string[];
  readonly isRunning: boolean;
  readonly runtime: Runtime & {
    readonly onConnect: ExtensionEvent<(port: Port) => void>;
    readonly onMessage: ExtensionEvent<
      (message: any, sender: MessageSender, sendResponse: (value?: unknown) => void) => unknown
    >;
  };
  readonly onGone: ExtensionEvent<(script: ContentScript) => void>;
  detach(): Promise<void>;
}

export interface Session {
  readonly browser: Browser;
  readonly chrome: any;
  /** Attaches a content script to a frame; the extension needs access to the page. */
  attach(frame: { tabId: number; frameId?: number }): Promise<ContentScript>;
  /** Plays the content scripts that the manifest declares. */
  contentScripts(run: (script: ContentScript) => void): Promise<void>;
  readonly onGap: ExtensionEvent<(gap: { missed?: number; reset?: true }) => void>;
  control(command: unknown): Promise<any>;
  close(): void;
}

export function createBrowser(options: Options): Promise<Session>;
