import { isOpen, pathsOf, type Preview } from './preview.ts';

/**
 * Previews that these build on, directly or not, and that were not applied, as far as they change these paths.
 * @param known the same for a preview beneath, if already known
 */
export function lostBeneath(
  previews: readonly Preview[],
  paths: readonly string[],
  get: (id: string) => Preview | undefined,
  known: (id: string) => readonly string[] | undefined = () => undefined,
): readonly string[] {
  const lost = new Set<string>();
  const asked = new Set(paths);
  const seen = new Set(previews.flatMap(({ dependsOn }) => dependsOn));
  for (const id of seen) {
    const beneath = get(id);
    if (!beneath || !pathsOf(beneath).some(path => asked.has(path))) continue;
    if (beneath.state.kind === 'discarded' || beneath.state.kind === 'expired') lost.add(id);
    if (!isOpen(beneath)) continue;
    const below = known(id);
    for (const each of below ?? []) lost.add(each);
    // The iteration also reaches elements that are added meanwhile.
    if (!below) for (const each of beneath.dependsOn) seen.add(each);
  }
  return [...lost];
}

/** Remembers results of {@link lostBeneath} while previews become stale one after another, as in a refused chain. */
export class LostBeneath {
  readonly #get: (id: string) => Preview | undefined;
  readonly #known = new Map<string, readonly string[]>();

  constructor(get: (id: string) => Preview | undefined) {
    this.#get = get;
  }

  /** Like {@link lostBeneath}. */
  of(preview: Preview, paths: readonly string[]): readonly string[] {
    const keyOf = (id: string): string => JSON.stringify([id, paths]);
    const lost = lostBeneath([preview], paths, this.#get, id => this.#known.get(keyOf(id)));
    this.#known.set(keyOf(preview.id), lost);
    return lost;
  }

  /**
   * The paths, without those of files that the lost previews would have created, and with the old paths of those that they would
   * have renamed.
   */
  toRead(paths: readonly string[], lost: readonly string[]): readonly string[] {
    const changes = lost.flatMap(id => this.#get(id)?.changes ?? []);
    return paths.flatMap(path => {
      const made = changes.find(
        each => each.path === path && (each.kind === 'create' || each.kind === 'rename'),
      );
      return made ? (made.kind === 'rename' ? made.from : []) : path;
    });
  }

  /** Notes a changed preview. If it may be lost now, or others beneath it, everything remembered is dropped. */
  note(before: Preview | undefined, { state, changes, dependsOn }: Preview): void {
    const isSame = before?.changes === changes && before.dependsOn === dependsOn;
    if (!isSame || before.state.kind !== state.kind) this.#known.clear();
  }
}
