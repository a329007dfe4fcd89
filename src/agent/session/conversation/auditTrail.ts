import { plainOutcome, type LedgerEntry } from '../../hold/preview/ledger.ts';
import type { PreviewStore } from '../../hold/preview/previewStore.ts';
import type { ConversationTree } from './conversationTree.ts';
import type { NodeId } from './nodeId.ts';
import type { EntryOf } from './storage/sessionEntry.ts';

/** Settings that an answer depends on besides the messages: the model and its permissions. */
export type SettingsInForce = EntryOf<'settings'>['settings'];

/** The part of a ledger entry that a conversation keeps for its own previews. */
export type HeardAttempt = EntryOf<'resolution'>['resolution'];

/** Events of a conversation besides its messages, with their places in the tree. The trail only grows. */
export class AuditTrail {
  /**
   * The settings by the first message that was made with them, in the order of ids. Settings count only while that message
   * is on the trunk.
   */
  readonly #settings = new Map<NodeId, SettingsInForce>();
  /** The resolutions by the node that was active when the conversation heard of them. */
  readonly #resolutions = new Map<NodeId | null, HeardAttempt[]>();

  /** Records settings that apply from the next message on. */
  recordSettings({ nextId }: ConversationTree, currentSettings: SettingsInForce): void {
    this.#settings.set(nextId, currentSettings);
  }

  /** Records, at the active node, that a preview was resolved or that resolving it failed. */
  recordResolution({ active }: ConversationTree, resolution: HeardAttempt): void {
    const before = this.#resolutions.get(active);
    if (before) before.push(resolution);
    else this.#resolutions.set(active, [resolution]);
  }

  /** The settings recorded last on the trunk; `undefined` if there are none. */
  settings(tree: ConversationTree): SettingsInForce | undefined {
    const { nextId } = tree;
    const from = [...this.#settings.keys()].findLast(node => node === nextId || tree.isOnTrunk(node));
    return from === undefined ? undefined : this.#settings.get(from);
  }

  /** The settings that apply from this node on; `undefined` if they did not change there. */
  settingsFrom(node: NodeId): SettingsInForce | undefined {
    return this.#settings.get(node);
  }

  /** The resolutions recorded at a node, in order; `null` is the point before the first message. */
  resolutionsAfter(node: NodeId | null): readonly HeardAttempt[] {
    return this.#resolutions.get(node) ?? [];
  }

  /** The resolutions on all branches. */
  get resolutions(): readonly HeardAttempt[] {
    return [...this.#resolutions.values()].flat();
  }
}

/** The part of a ledger entry that a conversation keeps. */
export function resolutionOf(entry: LedgerEntry): HeardAttempt {
  const { previewId, label, action, actor, reason, outcome, at, run } = entry;
  return { previewId, label, action, actor, reason, outcome, at, ...(run ? { run } : {}) };
}

/** The names of the settings that differ. */
export function changedSettings(
  before: Partial<SettingsInForce>,
  after: SettingsInForce,
): (keyof SettingsInForce)[] {
  return (Object.keys(after) as (keyof SettingsInForce)[]).filter(name => before[name] !== after[name]);
}

/**
 * The resolutions of a conversation's previews that its trail does not have: another conversation was open, or the
 * process ended between the writes to the two logs. Previews whose content was deleted since are left out.
 */
export function missedResolutions(
  { id, trail }: { readonly id: string; readonly trail: AuditTrail },
  store: PreviewStore,
): readonly HeardAttempt[] {
  // Logs of version 1 have `failed` where an apply returned an error.
  const keyOf = ({ previewId, at, outcome }: HeardAttempt): string =>
    `${previewId} ${at} ${plainOutcome(outcome)}`;
  const kept = new Set(trail.resolutions.map(keyOf));
  return store
    .ledger()
    .filter(({ previewId }) => store.get(previewId)?.origin?.sessionId === id)
    .map(resolutionOf)
    .filter(resolution => !kept.has(keyOf(resolution)));
}
