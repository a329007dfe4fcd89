import type { LedgerEntry } from '../preview/ledger.ts';
import type { ModelAuthority, ResolveOrder } from '../preview/preview.ts';
import type { Forcing } from '../preview/resolveDirectives.ts';
import type { ConversationTree } from '../tree/conversationTree.ts';
import type { NodeId } from '../tree/nodeId.ts';

/** What an answer depends on beside what was said: who gave it, and what they might do. */
export interface SettingsInForce {
  /** The provider's id. */
  readonly model: string;
  readonly modelAuthority: ModelAuthority;
  readonly forcing: Forcing;
  readonly order: ResolveOrder;
  readonly revertEnabled: boolean;
}

/** What became of a preview of the conversation; the ledger has all of it. */
export type Resolution = Pick<
  LedgerEntry,
  'previewId' | 'label' | 'action' | 'actor' | 'reason' | 'outcome' | 'at'
>;

type Tree = Pick<ConversationTree, 'active' | 'isOnTrunk' | 'nextId'>;

/** What happened in a conversation beside its messages, and where in the tree. It only grows. */
export class SessionTrail {
  /** By the first message after a change: on other branches it says nothing. In the order of the ids. */
  readonly #settings = new Map<NodeId, SettingsInForce>();
  /** By the message after which the conversation learned of it. */
  readonly #resolutions = new Map<NodeId | null, Resolution[]>();

  /** Those settings are in force from the next message on. */
  change({ nextId }: Tree, settings: SettingsInForce): void {
    this.#settings.set(nextId, settings);
  }

  /** It was learned, while the conversation stood where it stands, that a preview was resolved or failed to be. */
  resolve({ active }: Tree, resolution: Resolution): void {
    const before = this.#resolutions.get(active);
    if (before) before.push(resolution);
    else this.#resolutions.set(active, [resolution]);
  }

  /** What the trunk was last made with; `undefined` where nobody noted it. */
  settings(tree: Tree): SettingsInForce | undefined {
    const { nextId } = tree;
    const from = [...this.#settings.keys()].findLast(node => node === nextId || tree.isOnTrunk(node));
    return from === undefined ? undefined : this.#settings.get(from);
  }

  /** The settings that are in force from a node on; `undefined` where they stay what they were. */
  settingsFrom(node: NodeId): SettingsInForce | undefined {
    return this.#settings.get(node);
  }

  /** What was resolved right after a node, in order; `null` stands for the beginning. */
  resolvedAfter(node: NodeId | null): readonly Resolution[] {
    return this.#resolutions.get(node) ?? [];
  }

  /** Everything that was resolved, on all branches. */
  get resolutions(): readonly Resolution[] {
    return [...this.#resolutions.values()].flat();
  }
}

/** What a conversation keeps of an entry of the ledger. */
export function resolutionOf(entry: LedgerEntry): Resolution {
  const { previewId, label, action, actor, reason, outcome, at } = entry;
  return { previewId, label, action, actor, reason, outcome, at };
}

/** The names of the settings that are others. */
export function changedSettings(
  before: Partial<SettingsInForce>,
  after: SettingsInForce,
): (keyof SettingsInForce)[] {
  return (Object.keys(after) as (keyof SettingsInForce)[]).filter(name => before[name] !== after[name]);
}
