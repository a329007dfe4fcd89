interface Ending {
  close(): Promise<void>;
}

/** The server of a window and the views that it serves. Each begins when it is first asked for; both end together. */
export class ServerLife<Server extends Ending, Views extends Ending> {
  readonly #begin: { readonly server: () => Promise<Server>; readonly views: () => Promise<Views> };
  #server: Promise<Server> | undefined;
  #views: Promise<Views> | undefined;

  constructor(begin: { readonly server: () => Promise<Server>; readonly views: () => Promise<Views> }) {
    this.#begin = begin;
  }

  /** Whether the server runs, or is about to. */
  get hasServer(): boolean {
    return this.#server !== undefined;
  }

  /** Starts the server, if none runs or the last one did not start. */
  server(): Promise<Server> {
    if (this.#server) return this.#server;
    const server = this.#begin.server();
    this.#server = server;
    server.catch(() => {
      if (this.#server === server) this.#server = undefined;
    });
    return server;
  }

  views(): Promise<Views> {
    return (this.#views ??= this.#begin.views());
  }

  /** Stops both. A later request for either starts a new one. */
  async stop(): Promise<void> {
    const [server, views] = [this.#server, this.#views];
    this.#server = undefined;
    this.#views = undefined;
    await (await views)?.close();
    await (await server)?.close();
  }
}
