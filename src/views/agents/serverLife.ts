interface Ending {
  close(): Promise<void>;
}

/** The server of a window, and the views of its agents, which go on without it. Each begins when it is first asked for. */
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

  /** A later request starts a new one. */
  async stopServer(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await (await server)?.close();
  }

  /** Closes both. */
  async close(): Promise<void> {
    try {
      await (await this.#views)?.close();
    } finally {
      await this.stopServer();
    }
  }
}
