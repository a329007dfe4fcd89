import type { LoadProblem } from './loadProblem.ts';
import { placeState, toolFiles, type PlaceState, type ToolPlace } from './toolFiles.ts';
import type { LoadedTools } from './toolLoader.ts';

/** Loads the tools of a file; see `ToolLoader.loadFile`. */
export type LoadFile = (file: string, root: string, cwd: string) => Promise<LoadedTools>;

interface LoadedPlace extends PlaceState {
  readonly files: readonly LoadedTools[];
}

/** What the places of custom tools hold, as it was when it was looked at last. */
export class ToolPlaces {
  readonly #load: LoadFile;
  #loaded: ReadonlyMap<string, LoadedPlace> = new Map();
  #withheld: readonly string[] = [];

  constructor(load: LoadFile) {
    this.#load = load;
  }

  /** All loaded files in the order of their places. */
  get files(): readonly LoadedTools[] {
    return [...this.#loaded.values()].flatMap(({ files }) => files);
  }

  /** All folders that hold them, and what they import from there. */
  get folders(): readonly string[] {
    return [...this.#loaded.values()].flatMap(({ folders }) => folders);
  }

  /** Files of tools that are not loaded, because they are not to be trusted. */
  get withheld(): readonly string[] {
    return this.#withheld;
  }

  get problems(): readonly LoadProblem[] {
    return this.files.flatMap(({ owner }) => owner.problems);
  }

  /**
   * Loads the places in which anything has changed: all files of each, for they may share helpers.
   * @param everything load what has not changed too.
   * @returns whether anything is another now.
   */
  async update(places: readonly ToolPlace[], everything: boolean): Promise<boolean> {
    const loaded = new Map<string, LoadedPlace>();
    const withheld: string[] = [];
    let changed = false;
    for (const place of places) {
      if (!place.trusted) {
        withheld.push(...(await toolFiles(place.path)));
        continue;
      }
      const known = this.#loaded.get(place.path);
      const state = await placeState(place.path);
      const isSame = known ? known.signature === state.signature && !everything : state.signature === '';
      changed ||= !isSame;
      if (!isSame) loaded.set(place.path, { ...state, files: await this.#loadPlace(place) });
      else if (known) loaded.set(place.path, known);
    }
    changed ||= [...this.#loaded.keys()].some(path => !loaded.has(path));
    changed ||= withheld.join('\n') !== this.#withheld.join('\n');
    this.#withheld = withheld;
    this.#loaded = loaded;
    return changed;
  }

  async #loadPlace({ path, cwd }: ToolPlace): Promise<readonly LoadedTools[]> {
    return Promise.all((await toolFiles(path)).map(file => this.#load(file, path, cwd)));
  }
}
