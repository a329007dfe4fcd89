import * as z from 'zod/mini';
import { MAX_IMAGE_BYTES } from '../../agent/session/model/messages.ts';
import { action, chatActions, key, line, previewId, viewItem } from './viewItem.ts';

export type * from './viewItem.ts';

/**
 * The messages between the chat panel's webview and its host. Both sides validate with these schemas: the host because a
 * webview is untrusted, the webview because a restored one may be older than its host.
 */

/** The most characters of a code block that can be proposed: the limit for files. */
const MAX_CODE_CHARS = 5_000_000;
/** The most characters of a prompt. */
export const MAX_PROMPT_CHARS = 1_000_000;
/** The id of the conversation that the page shows. What the user does there is not done in another one, which may be open by then. */
const session = z.string().check(z.maxLength(100));
const mode = z.enum(['recommend', 'apply', 'checked', 'none']);

/** The most previews of one turn that can be undone together. */
export const MAX_TURN_PREVIEWS = 1_000;
/** The most attachments of one prompt. */
export const MAX_ATTACHMENTS = 20;
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
  /** The webview got the focus. */
  z.object({ type: z.literal('focused') }),
  z.object({
    type: z.literal('prompt'),
    text: z.string().check(z.minLength(1), z.maxLength(MAX_PROMPT_CHARS)),
    attachments: z.optional(z.array(attachmentRef).check(z.maxLength(MAX_ATTACHMENTS))),
  }),
  /** The prompt is longer than one may be. It stays in the input. */
  z.object({ type: z.literal('promptTooLong') }),
  /** Prompts that were put back had more attachments than one prompt takes. They stay in the input. */
  z.object({ type: z.literal('tooManyAttached') }),
  z.object({ type: z.literal('stop') }),
  /** Stops the command or call that a preview runs, and no other. */
  z.object({ type: z.literal('stopCommand'), id: previewId }),
  /** Answers a question: with a choice or, about a host, for how long the agent may read from it. */
  z.object({ type: z.literal('answer'), id: z.int(), answer: z.string().check(z.maxLength(1_000)) }),
  /** Takes back a queued prompt; with `edit`, puts it into the input. */
  z.object({ type: z.literal('takeBack'), id: z.string().check(z.maxLength(20)), edit: z.boolean() }),
  /** Resolves the revision that is shown. */
  z.object({
    type: z.literal('resolve'),
    id: previewId,
    revision: z.int().check(z.minimum(1)),
    action,
    reason: z.optional(z.string().check(z.maxLength(MAX_PROMPT_CHARS))),
  }),
  /** Applies the command of a preview, and lets the agent run later ones on its own in the isolated sandbox. */
  z.object({ type: z.literal('alwaysRunHere'), id: previewId, revision: z.int().check(z.minimum(1)) }),
  /** Proposes a sandboxed preview's command for the disk. */
  z.object({ type: z.literal('runOnDisk'), id: previewId }),
  /** Runs the checks on a preview. */
  z.object({ type: z.literal('runChecks'), id: previewId }),
  /** Opens the output of a check. */
  z.object({ type: z.literal('checkOutput'), result: z.string().check(z.maxLength(20)) }),
  /** Rebases a stale preview. */
  z.object({ type: z.literal('rebase'), id: previewId }),
  /** Undoes an applied preview, or proposes a discarded one again. */
  z.object({ type: z.enum(['undo', 'reopen']), id: previewId }),
  /** Opens these previews together, undoes them in this order, or offers further actions on them. */
  z.object({
    type: z.enum(['openTurn', 'undoTurn', 'more']),
    ids: z.array(previewId).check(z.maxLength(MAX_TURN_PREVIEWS)),
  }),
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
    session,
    path: z.string().check(z.minLength(1), z.maxLength(4_000)),
    code: z.string().check(z.maxLength(MAX_CODE_CHARS)),
  }),
  /** Reverts to before the last prompt, and sends it again; or asks the model again without a prompt. */
  z.object({ type: z.enum(['retry', 'continue']), session }),
  /** Applies the revision of the preview that the editor shows; opens one if none is shown. */
  z.object({ type: z.literal('applyShown') }),
  /** Reverts to a message or, for a prompt, to before it. */
  z.object({ type: z.literal('revert'), session, node: z.int().check(z.minimum(0)) }),
  z.object({ type: z.literal('setMode'), mode }),
  z.object({ type: z.literal('setPlanMode'), session, on: z.boolean() }),
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

const tokens = z.object({ inputTokens: z.number(), outputTokens: z.number() });
const status = z.object({
  state: z.enum(['idle', 'running', 'awaitingReview']),
  mode,
  planMode: z.boolean(),
  model: z.string(),
  /** No model is connected. */
  offline: z.boolean(),
  /** The tokens that the session and its last request used, as reported by the server; left out before the first count. */
  usage: z.optional(z.object({ session: tokens, last: tokens })),
  /** How full the model's context window is; left out before the first prompt and without a model. */
  context: z.optional(
    z.object({
      tokens: z.number(),
      window: z.number(),
      isCounted: z.boolean(),
      isWindowKnown: z.boolean(),
    }),
  ),
  /** The model's to-do list; left out without one. */
  todo: z.optional(z.array(z.object({ text: z.string(), state: z.enum(['open', 'doing', 'done']) }))),
  /** The files with the project's instructions that the last request contained. */
  instructions: z.array(z.object({ path: z.string(), isCut: z.boolean() })),
  /** Current activity, shown in addition to the state. */
  activity: z.optional(
    z.discriminatedUnion('kind', [
      /** `applying`: all that is left of a review has been decided, and a command of it still runs. */
      z.object({ kind: z.enum(['summarizing', 'asking', 'applying']) }),
      /** The request is sent again in this many seconds. */
      z.object({
        kind: z.literal('retrying'),
        code: z.enum(['rateLimited', 'server']),
        seconds: z.number(),
      }),
      /** A review has just ended; `text` says how. */
      z.object({ kind: z.literal('reviewed'), text: z.string() }),
    ]),
  ),
});
export type ChatStatus = z.infer<typeof status>;

/** To the webview. */
export const hostMessage = z.discriminatedUnion('type', [
  /** Comes first: the texts in VS Code's display language, keyed by the English ones; empty for English. */
  z.object({ type: z.literal('language'), texts: z.record(z.string(), z.string()) }),
  /** Everything that is shown; replaces the previous content. */
  z.object({
    type: z.literal('snapshot'),
    session,
    /** For the completion list after `/`. */
    commands: z.array(z.object({ name: z.string(), usage: z.string(), about: z.string() })),
    items: z.array(viewItem),
    status,
  }),
  /** Changes since the last message. */
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
  /** Adds attachments to the next prompt; those of a `pasteImage`, none if it could not be taken, are marked as such. */
  z.object({
    type: z.literal('attached'),
    refs: z.array(attachmentRef),
    isPasted: z.optional(z.literal(true)),
  }),
  /** Puts prompts that are not sent, or were reverted, into the input, before the text there. */
  z.object({ type: z.literal('putBack'), text: z.string(), refs: z.array(attachmentRef) }),
  /** Workspace paths that match a `findFiles`, best first. */
  z.object({ type: z.literal('files'), request: z.int(), paths: z.array(z.string()) }),
]);
export type HostMessage = z.infer<typeof hostMessage>;
export type DeltaMessage = Extract<HostMessage, { type: 'delta' }>;
