import type { LoadProblem } from './loadProblem.ts';
import { readPlaceState, listToolFiles, type PlaceState, type ToolPlace } from './toolFiles.ts';
import type { LoadedTools } from './toolLoader.ts';

/** Loads the tools of a file; see `ToolLoader.loadFile`. */
export type LoadFile = (file: string, root: string, cwd: string) => Promise<LoadedTools>;

interface LoadedPlace extends PlaceState {
  readonly files: readonly LoadedTools[];
}

/** The tools in the places of custom tools, as of the last update. */
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

  /** All folders of the places. */
  get folders(): readonly string[] {
    return [...this.#loaded.values()].flatMap(({ folders }) => folders);
  }

  /** Files of tools that are not loaded because their workspace is not trusted. */
  get withheld(): readonly string[] {
    return this.#withheld;
  }

  get problems(): readonly LoadProblem[] {
    return this.files.flatMap(({ owner }) => owner.problems);
  }

  /**
   * Loads the places in which anything has changed. All files of such a place are loaded, since they may share modules.
   * @param everything whether to load unchanged places too.
   * @returns whether anything has changed.
   */
  async update(places: readonly ToolPlace[], everything: boolean): Promise<boolean> {
    const loaded = new Map<string, LoadedPlace>();
    const withheld: string[] = [];
    let changed = false;
    for (const place of places) {
      if (!place.trusted) {
        withheld.push(...(await listToolFiles(place.path)));
        continue;
      }
      const known = this.#loaded.get(place.path);
      const state = await readPlaceState(place.path);
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
    return Promise.all((await listToolFiles(path)).map(file => this.#load(file, path, cwd)));
  }
}
