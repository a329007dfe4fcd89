import * as z from 'zod';

/**
 * What the chat panel's webview and its host say to each other. Both sides validate with these schemas: the host
 * because a webview is untrusted, the webview because a restored one may be older than its host.
 */

/** What a button that the host puts into the list does. */
const chatActions = ['showLog', 'setApiKey', 'selectModel', 'continue', 'manageTrust'] as const;
export type ChatAction = (typeof chatActions)[number];

/** The longest prompt that is taken, in characters. */
const MAX_PROMPT_CHARS = 1_000_000;
const action = z.enum(['apply', 'discard']);
const mode = z.enum(['recommend', 'apply', 'none']);
const previewId = z.string().regex(/^p[1-9]\d*$/);

/** The most places that go with one prompt. */
export const MAX_ATTACHMENTS = 20;
const line = z.int().min(1);
/** A file of the workspace, or some of its lines. What it holds is read when the prompt is sent. */
export const attachmentRef = z.object({
  /** Workspace path. */
  path: z.string().min(1).max(4_000),
  startLine: line.optional(),
  endLine: line.optional(),
});
export type AttachmentRef = z.infer<typeof attachmentRef>;

/** From the webview. */
export const webviewMessage = z.discriminatedUnion('type', [
  /** The webview listens now: it wants a snapshot. */
  z.object({ type: z.literal('ready') }),
  z.object({
    type: z.literal('prompt'),
    text: z.string().min(1).max(MAX_PROMPT_CHARS),
    attachments: z.array(attachmentRef).max(MAX_ATTACHMENTS).optional(),
  }),
  z.object({ type: z.literal('stop') }),
  z.object({ type: z.literal('new') }),
  /** A vote on the revision that is shown. */
  z.object({
    type: z.literal('resolve'),
    id: previewId,
    revision: z.int().min(1),
    action,
    reason: z.string().max(MAX_PROMPT_CHARS).optional(),
  }),
  /** A stale preview is brought up to date. */
  z.object({ type: z.literal('rebase'), id: previewId }),
  /** With the path of one of its files, that file's diff. */
  z.object({ type: z.literal('open'), id: previewId, path: z.string().max(4_000).optional() }),
  /** Back to a message, or before it when it is a prompt. */
  z.object({ type: z.literal('revert'), node: z.int().min(0) }),
  z.object({ type: z.literal('setMode'), mode }),
  z.object({ type: z.literal('setPlanMode'), on: z.boolean() }),
  /** The person wants to choose what goes with the prompt. */
  z.object({ type: z.literal('attach') }),
  /** What was typed behind `@`; answered with `files` of the same number. */
  z.object({ type: z.literal('findFiles'), request: z.int(), query: z.string().max(1_000) }),
  z.object({ type: z.literal('action'), name: z.enum(chatActions) }),
  z.object({ type: z.literal('openLink'), url: z.string().max(8_000) }),
]);
export type WebviewMessage = z.infer<typeof webviewMessage>;

const fileRow = z.object({
  path: z.string(),
  /** The old path of a rename. */
  from: z.string().optional(),
  change: z.enum(['modify', 'create', 'delete', 'rename']),
  /** The change in words, for screen readers. */
  changeLabel: z.string(),
  /** `+3` and `−1`, each empty for zero; left out while unknown. */
  stat: z.object({ added: z.string(), removed: z.string() }).optional(),
});
export type FileRow = z.infer<typeof fileRow>;

const key = z.string();
const actionButton = z.object({ name: z.enum(chatActions), label: z.string() });
const previewItem = z.object({
  kind: z.literal('preview'),
  key,
  id: previewId,
  revision: z.int(),
  label: z.string(),
  source: z.string(),
  files: z.array(fileRow),
  /** How many files are not listed, in words; empty when all are. */
  moreFiles: z.string(),
  /** The sum over all files, where it is known and there are several. */
  stat: z.object({ added: z.string(), removed: z.string() }).optional(),
  state: z.enum(['pending', 'applying', 'applied', 'discarded', 'failed', 'expired']),
  /** The state in words with who brought it about; empty while pending. */
  stateText: z.string(),
  /** Why it was resolved so, if somebody gave a reason. */
  reason: z.string(),
  /** `The model recommends Apply: …`; empty without a recommendation. */
  recommendation: z.string(),
  /** Why it cannot be applied as it is; empty when it can. */
  stale: z.string(),
  /** How the last attempt failed; empty if none did. */
  lastError: z.string(),
});
const resolveItem = z.object({
  kind: z.literal('resolve'),
  key,
  outcome: z.enum(['running', 'accept', 'discard', 'failed', 'recommend']),
  title: z.string(),
  /** The source tool and who resolved. */
  source: z.string(),
  reason: z.string(),
  /** What else the person should know, e.g. the text of a failure. */
  detail: z.string(),
});

/** One entry of the message list. A key names the same entry for as long as the session lives. */
export const viewItem = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('heading'), key, text: z.string() }),
  /** Said by the runtime to both the model and the person. */
  z.object({ kind: z.literal('notice'), key, text: z.string() }),
  z.object({
    kind: z.literal('user'),
    key,
    /** The message in the session's tree, to which one can go back; left out where one cannot. */
    node: z.int().optional(),
    text: z.string(),
    /** What went with it. */
    attachments: z.array(z.object({ label: z.string(), title: z.string(), problem: z.boolean() })),
    /** `Queued`, or empty. */
    note: z.string(),
  }),
  /** What came of a command that was carried out here. Markdown. */
  z.object({ kind: z.literal('local'), key, text: z.string() }),
  z.object({
    kind: z.literal('assistant'),
    key,
    node: z.int().optional(),
    text: z.string(),
    streaming: z.boolean(),
    note: z.string(),
  }),
  z.object({
    kind: z.literal('tool'),
    key,
    name: z.string(),
    summary: z.string(),
    status: z.enum(['running', 'done', 'failed']),
    statusLabel: z.string(),
    /** How far a running call is, on one line; empty if it does not tell. */
    progress: z.string(),
    input: z.string(),
    output: z.string(),
  }),
  previewItem,
  resolveItem,
  z.object({ kind: z.literal('error'), key, text: z.string(), actions: z.array(actionButton) }),
  /** Buttons that help on, e.g. after the offline provider said what it is. */
  z.object({ kind: z.literal('actions'), key, actions: z.array(actionButton) }),
]);
export type ViewItem = z.infer<typeof viewItem>;
export type ItemOf<Kind extends ViewItem['kind']> = Extract<ViewItem, { kind: Kind }>;

const status = z.object({
  state: z.enum(['idle', 'running', 'awaitingReview']),
  mode,
  planMode: z.boolean(),
  model: z.string(),
  /** No model is connected. */
  offline: z.boolean(),
  /** Tokens of this session as a few words, and all that is known in sentences; both empty before the first count. */
  usage: z.object({ label: z.string(), detail: z.string() }),
  pending: z.int(),
  /** `2 pending`; empty when nothing is. */
  pendingLabel: z.string(),
  /** What is going on, for the line above the composer; empty when idle. */
  line: z.string(),
});
export type ChatStatus = z.infer<typeof status>;

/** Every text that the webview itself puts on the screen. `{0}` is filled in by the webview. */
export const stringKeys = [
  'apply',
  'applyLabel',
  'attach',
  'attached',
  'connectModel',
  'copied',
  'copy',
  'discard',
  'discardLabel',
  'discardReason',
  'discardReasonLabel',
  'discardReasonPlaceholder',
  'emptyHint',
  'emptyTitle',
  'examples',
  'input',
  'jumpToEnd',
  'modeApply',
  'modeApplyHint',
  'modeLabel',
  'modeNone',
  'modeNoneHint',
  'modeRecommend',
  'modeRecommendHint',
  'modelLabel',
  'newSession',
  'open',
  'openLabel',
  'output',
  'placeholder',
  'plan',
  'planOffHint',
  'planOnHint',
  'promptLabel',
  'rebase',
  'rebaseLabel',
  'remove',
  'revert',
  'revertPrompt',
  'send',
  'stop',
  'suggestions',
  'title',
  'transcript',
  'usage',
  'you',
] as const;
export type ChatStrings = Readonly<Record<(typeof stringKeys)[number], string>>;

/** To the webview. */
export const hostMessage = z.discriminatedUnion('type', [
  /** Everything there is to show; replaces whatever was shown. */
  z.object({
    type: z.literal('snapshot'),
    strings: z.record(z.enum(stringKeys), z.string()),
    examples: z.array(z.string()),
    /** For the completion list behind `/`. */
    commands: z.array(z.object({ name: z.string(), usage: z.string(), about: z.string() })),
    items: z.array(viewItem),
    status,
  }),
  /** What changed since the last message. */
  z.object({
    type: z.literal('delta'),
    /** New and changed items. */
    items: z.array(viewItem),
    /** Text to append to an assistant item. */
    texts: z.array(z.object({ key, append: z.string() })),
    /** The keys of all items from the first to the last, if that changed. */
    order: z.array(z.string()).optional(),
    status: status.optional(),
  }),
  /** The keyboard goes to the composer. */
  z.object({ type: z.literal('focus') }),
  /** What goes with the next prompt, beside what is there. */
  z.object({ type: z.literal('attached'), refs: z.array(attachmentRef) }),
  /** A prompt that was taken back, to be typed anew; it goes before what is typed already. */
  z.object({ type: z.literal('putBack'), text: z.string(), refs: z.array(attachmentRef) }),
  /** The item of that key, or the first one below it, comes into sight and gets the keyboard. */
  z.object({ type: z.literal('show'), key }),
  /** Workspace paths that fit a `findFiles`, the best first. */
  z.object({ type: z.literal('files'), request: z.int(), paths: z.array(z.string()) }),
]);
export type HostMessage = z.infer<typeof hostMessage>;
export type DeltaMessage = Extract<HostMessage, { type: 'delta' }>;

/** Puts `values` in the places `{0}`, `{1}`, … of a text. */
export function fill(text: string, ...values: readonly (string | number)[]): string {
  return text.replace(/\{(\d+)\}/g, (place, index: string) => String(values[Number(index)] ?? place));
}
