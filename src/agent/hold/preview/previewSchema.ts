import * as z from 'zod/mini';
import type { DeepReadonly } from '../../base/json.ts';
import { isEncodingName, type EncodingName } from '../text/encodings.ts';
import { applyTextEdits, editsFit } from '../text/textEdit.ts';
import type { BinarySide, FileChange, FileSide, TextSide } from './fileChange.ts';
import { withEdits } from './log/cutEdits.ts';
import type { Place } from './log/packs.ts';

const encodingName = z.custom<EncodingName>(value => typeof value === 'string' && isEncodingName(value));
const encoding = z.object({ name: encodingName, bom: z.boolean() });
/** The text is in the line if an older version wrote it, or if its bytes do not decode to the same text. */
const text = z.object({ hash: z.string(), text: z.string(), encoding });
const place = z.tuple([z.string().check(z.regex(/^[\w-]+\.pack$/)), z.int(), z.int()]);
/** The places of the sides of lines whose contents are stored beside the log, which `bindTexts` binds to them. */
export const placesOfSides = new WeakMap<FileSide, Place>();

/** The `text` of a side until it is bound. All sides share one getter: thousands of getters would block a start. */
const unbound: PropertyDescriptor & ThisType<TextSide> = {
  get: () => {
    throw new Error('This text is not bound.');
  },
  enumerable: true,
  configurable: true,
};

const stored = z.pipe(
  z.object({ hash: z.string().check(z.regex(/^[0-9a-f]{64}$/)), at: place, encoding }),
  z.transform(({ hash, at, encoding }): TextSide => {
    const side = Object.defineProperty({ hash, encoding }, 'text', unbound) as TextSide;
    placesOfSides.set(side, at);
    return side;
  }),
);
const link = z.object({ hash: z.string(), link: z.string().check(z.minLength(1)) });
/** Without its place, it is gone from the storage; older versions kept it in a folder of its own. */
const binary = z.pipe(
  z.object({
    hash: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
    size: z.int().check(z.minimum(0)),
    at: z.exactOptional(place),
  }),
  z.transform(({ at, ...side }): BinarySide => {
    if (at) placesOfSides.set(side, at);
    return side;
  }),
);
const side = z.union([stored, text, link, binary]);
export const path = z.string().check(z.minLength(1));
const mode = z.int().check(z.minimum(0), z.maximum(0o7777));
/** See `FileRights`. */
export const rights = z.object({ owner: z.int(), group: z.int(), acl: z.exactOptional(z.string()) });
const folders = z.exactOptional(z.array(path));
const edits = z.array(z.object({ start: z.int(), end: z.int(), text: z.string() }));
const cut = z.tuple([z.int(), z.int(), z.int()]);

function isStored(side: object): side is TextSide {
  return placesOfSides.has(side as FileSide);
}

/** Older versions left out the text of `after` where the edits give it. */
const modify = z.pipe(
  z.object({
    kind: z.literal('modify'),
    path,
    before: side,
    after: z.union([stored, z.object({ ...text.shape, text: z.exactOptional(z.string()) }), link, binary]),
    edits: z.exactOptional(edits),
    /** The edits without their texts, which the text of `after` contains: start and end of each, and the length of its text. */
    cuts: z.exactOptional(z.array(cut)),
    mode: z.exactOptional(mode),
  }),
  z.transform(({ cuts, ...change }, { issues }): Extract<FileChange, { kind: 'modify' }> => {
    const { before, after } = change;
    if (!('encoding' in after)) return { ...change, after };
    if (isStored(after)) return cuts ? withEdits({ ...change, after }, cuts, after) : { ...change, after };
    if (after.text !== undefined) return { ...change, after: { ...after, text: after.text } };
    if ('text' in before && change.edits && editsFit(before.text.length, change.edits))
      return { ...change, after: { ...after, text: applyTextEdits(before.text, change.edits) } };
    issues.push({ code: 'custom', message: 'no text after', input: change });
    return z.NEVER;
  }),
);
export const change = z.discriminatedUnion('kind', [
  modify,
  z.object({
    kind: z.literal('create'),
    path,
    before: z.null(),
    after: side,
    mode: z.exactOptional(mode),
    rights: z.exactOptional(rights),
  }),
  z.object({ kind: z.literal('delete'), path, before: side, after: z.null(), folders }),
  z.object({ kind: z.literal('rename'), path, from: path, before: side, after: side, folders }),
]);

/** An agent of another program, as it names itself; its version is empty if it gives none. */
export const agentNameSchema = z.object({ name: z.string(), version: z.string() });

/** Fields that a preview has from the moment it is staged, except for its content. This is their only definition. */
const stagedParts = {
  /** `p1`, `p2`, …; never reused in a workspace's storage. */
  id: z.string().check(z.regex(/^p[1-9]\d*$/)),
  label: z.string(),
  /** The parts of the label, if it has counts that follow the changes: see `LabelParts`. */
  labelParts: z.exactOptional(
    z.array(
      z.union([
        z.string(),
        z.object({ noun: z.enum(['file', 'change', 'edit', 'replacement']), count: z.int() }),
      ]),
    ),
  ),
  /** Replaces the label for people; the log and other extensions know the preview by the label. */
  title: z.exactOptional(z.string()),
  /** The title that the model gave, by which it knows the preview; without one, by the label. */
  modelTitle: z.exactOptional(z.string()),
  /** Who proposed it: only a label, no decision depends on it. */
  sourceToolName: z.string(),
  /**
   * Purpose of a preview of Redline's own, where something depends on it: a command that runs, a call of a tool of VS Code, the
   * configuration of an agent, the user's uncommitted changes, the inverse of an abandoned branch, settings that may hold secrets.
   * No foreign tool and no extension can set it.
   */
  purpose: z.exactOptional(z.enum(['command', 'toolCall', 'setUp', 'holdBack', 'revert', 'secret'])),
  /** Applying it runs something, so only a human may, in every mode. */
  humanOnly: z.exactOptional(z.literal(true)),
  /** Ids of previews that must be applied before this one. */
  dependsOn: z.array(z.string()),
  details: z.exactOptional(z.unknown()),
  /** Ids of the applied previews that this one undoes. */
  undoes: z.exactOptional(z.array(z.string())),
  /** The id of the discarded preview that this one proposes again. */
  reopens: z.exactOptional(z.string()),
  /**
   * The conversation that it concerns, and the call or source that staged it there. `null` if it belongs to no conversation of
   * Redline: a proposal by a tool of VS Code's own agents, or the configuration of agents, which a command of the user stages.
   */
  origin: z.nullable(
    z.object({
      /** A conversation of Redline or, with an `agent`, the id of its connection or source. */
      sessionId: z.string(),
      /** The agent of another program that proposed it, over MCP, or the source from which a person brought it. */
      agent: z.exactOptional(agentNameSchema),
      /**
       * The tool call that staged it: a `resolve` in the same message has not seen the diff. Absent if the user or an extension
       * staged it outside the messages.
       */
      call: z.exactOptional(z.object({ messageId: z.string(), toolCallId: z.string() })),
      /** Whether the model must resolve it. If not, it only hears the outcome. */
      asksModel: z.boolean(),
      /** Its change set: the previews of one prompt, one run of an agent, one branch. */
      setId: z.exactOptional(z.string()),
      /** The beginning of the prompt. */
      setTitle: z.exactOptional(z.string()),
    }),
  ),
  /** Set if it was split off another preview, to be resolved separately. */
  part: z.exactOptional(
    z.object({
      previewId: z.string(),
      /** How many hunks it holds. */
      hunks: z.number(),
      /** For a single hunk: its number, from 1, among all that its file had. */
      number: z.exactOptional(z.int()),
      /** The revision of the whole that it was split from, if that left all other hunks unchanged. */
      revision: z.exactOptional(z.int()),
      /** The part as a patch, for the model; capped. */
      patch: z.string(),
    }),
  ),
  /** An older version showed it for an agent in a terminal, which would have written it. It expires on reading. */
  agentWrites: z.exactOptional(z.literal(true)),
  /** The user edited the proposal: the model can only recommend from then on. */
  editedByUser: z.exactOptional(z.literal(true)),
  /**
   * Folders that were open when it was proposed, to which its paths are relative. It can be applied only while they lead to the
   * same places. Absent if it has no files, or if an older version staged it.
   */
  roots: z.exactOptional(z.array(z.object({ name: z.string(), fsPath: z.string() }))),
  /** ISO 8601. */
  stagedAt: z.string(),
};

/** Redline writes exactly these changes. */
export const stagedFiles = z.object({ ...stagedParts, kind: z.literal('files'), changes: z.array(change) });

export const staged = z.discriminatedUnion('kind', [
  stagedFiles,
  /** `plan`: applying approves the plan that was submitted. `action`: applying runs the producer's callback; its effect is opaque. */
  z.object({ ...stagedParts, kind: z.enum(['plan', 'action']), changes: z.null() }),
]);

/** A preview as it was staged: the first revision, pending. */
export type StagedPreview = DeepReadonly<z.infer<typeof staged>>;
/** The same with file changes, which Redline writes itself. */
export type StagedFiles = DeepReadonly<z.infer<typeof stagedFiles>>;
