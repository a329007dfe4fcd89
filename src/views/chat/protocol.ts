import * as z from 'zod/mini';
import { planPart } from './planPart.ts';
import { MAX_IMAGE_BYTES } from '../../agent/model/messages.ts';
import { stringKeys } from './stringKeys.ts';

/**
 * The messages between the chat panel's webview and its host. Both sides validate with these schemas: the host because a
 * webview is untrusted, the webview because a restored one may be older than its host.
 */

/** The actions of buttons that the host puts into the list. */
const chatActions = ['showLog', 'setApiKey', 'selectModel', 'continue', 'manageTrust'] as const;
export type ChatAction = (typeof chatActions)[number];
/** The actions on everything that is pending. */
const reviewActions = ['open', 'applyAll', 'discardAll'] as const;
export type ReviewAction = (typeof reviewActions)[number];

/** The most characters of a code block that can be proposed: the limit for files. */
const MAX_CODE_CHARS = 5_000_000;
/** The most characters of a prompt. */
export const MAX_PROMPT_CHARS = 1_000_000;
const action = z.enum(['apply', 'discard']);
const mode = z.enum(['recommend', 'apply', 'none']);
const previewId = z.string().check(z.regex(/^p[1-9]\d*$/));

/** The most previews of one turn that can be undone together. */
export const MAX_TURN_PREVIEWS = 1_000;
/** The most attachments of one prompt. */
export const MAX_ATTACHMENTS = 20;
const line = z.int().check(z.minimum(1));
/** The longest base64 text of an image, and of its address in the panel. */
const MAX_IMAGE_CHARS = Math.ceil(MAX_IMAGE_BYTES / 3) * 4;
const imageRef = z.object({
  file: z.string().check(z.maxLength(200)),
  type: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
  bytes: z.int(),
  /** Its address in the panel; the host sets it. */
  src: z.string().check(z.maxLength(4_000)),
});
/** A file in the workspace, a range of its lines, or a stored image. A file is read when the prompt is sent. */
export const attachmentRef = z.object({
  /** Workspace path; for an image any name. */
  path: z.string().check(z.minLength(1), z.maxLength(4_000)),
  startLine: z.optional(line),
  endLine: z.optional(line),
  image: z.optional(imageRef),
});
export type AttachmentRef = z.infer<typeof attachmentRef>;

/** From the webview. */
export const webviewMessage = z.discriminatedUnion('type', [
  /** The webview is ready for a snapshot. */
  z.object({ type: z.literal('ready') }),
  z.object({
    type: z.literal('prompt'),
    text: z.string().check(z.minLength(1), z.maxLength(MAX_PROMPT_CHARS)),
    attachments: z.optional(z.array(attachmentRef).check(z.maxLength(MAX_ATTACHMENTS))),
  }),
  /** The prompt is longer than one may be. It stays in the input. */
  z.object({ type: z.literal('promptTooLong') }),
  z.object({ type: z.literal('stop') }),
  /** Takes a prompt back that waits; to edit it, into the input. */
  z.object({ type: z.literal('takeBack'), id: z.string().check(z.maxLength(20)), edit: z.boolean() }),
  z.object({ type: z.literal('review'), action: z.enum(reviewActions) }),
  /** Resolves the revision that is shown. */
  z.object({
    type: z.literal('resolve'),
    id: previewId,
    revision: z.int().check(z.minimum(1)),
    action,
    reason: z.optional(z.string().check(z.maxLength(MAX_PROMPT_CHARS))),
  }),
  /** Rebases a stale preview. */
  z.object({ type: z.literal('rebase'), id: previewId }),
  /** Undoes an applied preview, or proposes a discarded one again. */
  z.object({ type: z.enum(['undo', 'reopen']), id: previewId }),
  /** Undoes what these previews applied, in this order. */
  z.object({ type: z.literal('undoTurn'), ids: z.array(previewId).check(z.maxLength(MAX_TURN_PREVIEWS)) }),
  /** Opens the proposal for editing, at its conflicts if it has any. */
  z.object({ type: z.literal('edit'), id: previewId }),
  /** Opens a preview or, with a path, the diff of that file. */
  z.object({
    type: z.literal('open'),
    id: previewId,
    path: z.optional(z.string().check(z.maxLength(4_000))),
  }),
  /** Opens a file that an answer or a call names, at a line. */
  z.object({
    type: z.literal('openFile'),
    path: z.string().check(z.minLength(1), z.maxLength(4_000)),
    line: z.optional(line),
  }),
  /** Stages a code block as the whole content of the file that it names. */
  z.object({
    type: z.literal('propose'),
    path: z.string().check(z.minLength(1), z.maxLength(4_000)),
    code: z.string().check(z.maxLength(MAX_CODE_CHARS)),
  }),
  /** Asks the last prompt again, from before it. */
  z.object({ type: z.literal('retry') }),
  /** Applies the revision of the preview that the editor shows; opens one if none is shown. */
  z.object({ type: z.literal('applyShown') }),
  /** Reverts to a message or, for a prompt, to before it. */
  z.object({ type: z.literal('revert'), node: z.int().check(z.minimum(0)) }),
  z.object({ type: z.literal('setMode'), mode }),
  z.object({ type: z.literal('setPlanMode'), on: z.boolean() }),
  /** The user pasted an image: its bytes in base64, or only their number if there are too many. */
  z.object({
    type: z.literal('pasteImage'),
    name: z.string().check(z.maxLength(200)),
    data: z.string().check(z.maxLength(MAX_IMAGE_CHARS)),
    bytes: z.int(),
  }),
  /** The user wants to choose an attachment. */
  z.object({ type: z.literal('attach') }),
  /** The text typed after `@`; answered by `files` with the same request number. */
  z.object({ type: z.literal('findFiles'), request: z.int(), query: z.string().check(z.maxLength(1_000)) }),
  z.object({ type: z.literal('action'), name: z.enum(chatActions) }),
  z.object({ type: z.literal('openLink'), url: z.string().check(z.maxLength(8_000)) }),
]);
export type WebviewMessage = z.infer<typeof webviewMessage>;

const lineStat = z.object({ added: z.string(), removed: z.string() });
const fileRow = z.object({
  path: z.string(),
  /** The old path of a rename. */
  from: z.optional(z.string()),
  change: z.enum(['modify', 'create', 'delete', 'rename']),
  /** The change in words, for screen readers. */
  changeLabel: z.string(),
  /** `+3` and `−1`, each empty for zero; left out while unknown. */
  stat: z.optional(lineStat),
});
export type FileRow = z.infer<typeof fileRow>;

const key = z.string();
const openButton = z.object({ id: previewId, label: z.string() });
const actionButton = z.object({ name: z.enum(chatActions), label: z.string() });
const cardState = z.enum(['pending', 'applying', 'applied', 'undone', 'discarded', 'failed', 'expired']);
/** What can be done about an outcome: to redo undoes the preview that undid it. */
const remedy = z.object({ type: z.enum(['undo', 'redo', 'reopen']), id: previewId });
/** A hunk or file that was resolved by itself. */
const partRow = z.object({
  id: previewId,
  label: z.string(),
  state: cardState,
  /** The state in words, with who resolved it. */
  stateText: z.string(),
  reason: z.string(),
  remedy: z.optional(remedy),
});
export type PartRow = z.infer<typeof partRow>;
const previewItem = z.object({
  kind: z.literal('preview'),
  key,
  id: previewId,
  revision: z.int(),
  label: z.string(),
  source: z.string(),
  /** Which agent of another program proposed it; empty for Redline's own. */
  agent: z.string(),
  files: z.array(fileRow),
  /** `and 3 more` if not all files are listed, else empty. */
  moreFiles: z.string(),
  /** What its producer says of it, while it is open; empty if that is not a text. */
  note: z.string(),
  /** The sum over all files, if there are several and it is known. */
  stat: z.optional(lineStat),
  state: cardState,
  /** The state in words, with who resolved it; empty while pending. */
  stateText: z.string(),
  /** The reason for the outcome; empty if none was given. */
  reason: z.string(),
  /** `The model recommends Apply: …`; empty without a recommendation. */
  recommendation: z.string(),
  /** The conflicts that a rebase left in it; empty if there are none. */
  conflicts: z.string(),
  /** Why it is stale and can be rebased; empty if it is not. */
  stale: z.string(),
  /** How the last attempt failed; empty if it did not. */
  lastError: z.string(),
  /** What the command of the preview wrote, or its result; empty if there is none. */
  output: z.string(),
  remedy: z.optional(remedy),
  /** Its hunks and files that were resolved by themselves, and what is left once that is resolved too. */
  parts: z.array(partRow),
  /** `1 applied · 1 discarded · 1 left`; empty without parts. */
  partsText: z.string(),
  /** The call that staged it, to unfold. */
  call: z.optional(z.object({ name: z.string(), input: z.string(), output: z.string() })),
  /** Its command is running and can be stopped. */
  canStop: z.boolean(),
  plan: z.optional(planPart),
});
const resolveItem = z.object({
  kind: z.literal('resolve'),
  key,
  outcome: z.enum(['running', 'accept', 'discard', 'failed', 'recommend']),
  title: z.string(),
  /** The source tool and who resolved. */
  source: z.string(),
  reason: z.string(),
  /** Further information, e.g. an error message. */
  detail: z.string(),
});

const toolItem = z.object({
  kind: z.literal('tool'),
  key,
  name: z.string(),
  summary: z.string(),
  status: z.enum(['running', 'done', 'failed']),
  statusLabel: z.string(),
  /** The file that it names, to open. */
  file: z.optional(z.object({ path: z.string(), line: z.optional(line) })),
  /** The progress of a running call, on one line; empty if it reports none. */
  progress: z.string(),
  input: z.string(),
  output: z.string(),
});

/** One entry of the message list. A key identifies the same entry for the lifetime of the session. */
export const viewItem = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('heading'), key, text: z.string() }),
  /** A notice from the runtime, with a button that opens a preview if it is about one. */
  z.object({ kind: z.literal('notice'), key, text: z.string(), open: z.optional(openButton) }),
  z.object({
    kind: z.literal('user'),
    key,
    /** The node to revert to; left out if reverting is not possible. */
    node: z.optional(z.int()),
    text: z.string(),
    /** Its attachments. */
    attachments: z.array(
      z.object({
        label: z.string(),
        title: z.string(),
        problem: z.boolean(),
        /** The address of an image in the panel. */
        src: z.optional(z.string()),
      }),
    ),
    /** `Queued`, or empty. */
    note: z.string(),
    /** Its id in the queue, for the buttons that edit and remove it. */
    queued: z.optional(z.string()),
  }),
  /** The outcome of a local slash command, as Markdown. */
  z.object({ kind: z.literal('local'), key, text: z.string() }),
  z.object({
    kind: z.literal('assistant'),
    key,
    node: z.optional(z.int()),
    text: z.string(),
    /** What the model thought before it answered; empty if the server does not tell. */
    reasoning: z.string(),
    streaming: z.boolean(),
    note: z.string(),
    /** It is the last answer, and its prompt can be asked again. */
    canRetry: z.boolean(),
  }),
  toolItem,
  /** Finished calls in a row: `Read 8 files`. */
  z.object({ kind: z.literal('tools'), key, title: z.string(), calls: z.array(toolItem) }),
  previewItem,
  resolveItem,
  /** What the model applied in a turn by itself: `2 files changed`. */
  z.object({ kind: z.literal('turn'), key, text: z.string(), ids: z.array(previewId) }),
  z.object({ kind: z.literal('error'), key, text: z.string(), actions: z.array(actionButton) }),
  /** Earlier messages were replaced for the model by this text. */
  z.object({
    kind: z.literal('summary'),
    key,
    node: z.optional(z.int()),
    title: z.string(),
    text: z.string(),
  }),
  /** Buttons for the next step, e.g. to connect a model. */
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
  /** The session's token use, in short and in detail; both empty before the first count. */
  usage: z.object({ label: z.string(), detail: z.string() }),
  /** How full the model's context window is; left out before the first prompt and without a model. */
  context: z.optional(z.object({ percent: z.number(), isNearlyFull: z.boolean(), detail: z.string() })),
  /** What is pending: `3 changes · 5 files` and, unless it is too much to count, its lines; left out if nothing is. */
  review: z.optional(z.object({ label: z.string(), stat: z.optional(lineStat) })),
  /** `Instructions: AGENTS.md`, the files of the project that the last request contained; empty if it contained none. */
  instructions: z.string(),
  /** The current activity, for the line above the composer; empty when idle. */
  line: z.string(),
  /** Stands instead of the line for so many seconds, with those that are left for `{0}`. */
  countdown: z.optional(z.object({ text: z.string(), seconds: z.number() })),
});
export type ChatStatus = z.infer<typeof status>;

/** To the webview. */
export const hostMessage = z.discriminatedUnion('type', [
  /** Everything to show; replaces what was shown before. */
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
    /** Text and reasoning to append to an assistant item. */
    texts: z.array(z.object({ key, append: z.string(), reasoning: z.string() })),
    /** The keys of all items from the first to the last, if that changed. */
    order: z.optional(z.array(z.string())),
    status: z.optional(status),
  }),
  /** Moves the focus to the composer. */
  z.object({ type: z.literal('focus') }),
  /** Adds attachments to the next prompt. */
  z.object({ type: z.literal('attached'), refs: z.array(attachmentRef) }),
  /** Puts prompts that are not sent, or were reverted, into the input, before what is typed there. */
  z.object({ type: z.literal('putBack'), text: z.string(), refs: z.array(attachmentRef) }),
  /** Scrolls to the item with that key, or the first one below it, and focuses it. */
  z.object({ type: z.literal('show'), key }),
  /** Workspace paths that match a `findFiles`, best first. */
  z.object({ type: z.literal('files'), request: z.int(), paths: z.array(z.string()) }),
]);
export type HostMessage = z.infer<typeof hostMessage>;
export type DeltaMessage = Extract<HostMessage, { type: 'delta' }>;
