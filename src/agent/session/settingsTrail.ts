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

/** The settings from one node on. */
interface SettingsChange {
  /** The first message after the change: on other branches it says nothing. */
  readonly from: NodeId;
  readonly settings: SettingsInForce;
}

/** Which settings the answers of a conversation were made with, on each of its branches. It only grows. */
export class SettingsTrail {
  readonly #changes: SettingsChange[] = [];

  /** Those settings are in force from the next message on. */
  add(tree: Pick<ConversationTree, 'nextId'>, settings: SettingsInForce): void {
    this.#changes.push({ from: tree.nextId, settings });
  }

  /** What the trunk was last made with; `undefined` where nobody noted it. */
  inForce(tree: Pick<ConversationTree, 'isOnTrunk' | 'nextId'>): SettingsInForce | undefined {
    const { nextId } = tree;
    return this.#changes.findLast(({ from }) => from === nextId || tree.isOnTrunk(from))?.settings;
  }

  /** The settings that are in force from a node on; `undefined` where they stay what they were. */
  from(node: NodeId): SettingsInForce | undefined {
    return this.#changes.findLast(({ from }) => from === node)?.settings;
  }
}

/** Whether nothing is different. */
export function sameSettings(a: SettingsInForce | undefined, b: SettingsInForce): boolean {
  return a !== undefined && changedSettings(a, b).length === 0;
}

/** The names of what is different. */
export function changedSettings(
  before: Partial<SettingsInForce>,
  after: SettingsInForce,
): (keyof SettingsInForce)[] {
  return (Object.keys(after) as (keyof SettingsInForce)[]).filter(name => before[name] !== after[name]);
}
