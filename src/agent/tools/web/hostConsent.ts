/** Which hosts the user lets the model read from. */
export interface HostConsent {
  /** Whether the workspace is trusted. */
  readonly isAvailable: () => boolean;
  /** Whether the user named the host, with its port if that is not the usual one, in the settings. Only such a host may be private. */
  readonly isNamed: (host: string) => boolean;
  /** Whether the user allows the host now; asks unless that was answered for longer. One question at a time. */
  readonly ask: (host: string, url: string, signal: AbortSignal) => Promise<boolean>;
}
