import { defineToken } from './token.js';

/** An answer to whatever watches the process. */
export interface MonitoringPage {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** What the host tells whatever watches the process, for servers that pass it on. */
export interface Monitoring {
  readonly paths: readonly string[];
  /**
   * `/healthz`, `/readyz` or `/metrics`; `undefined` for any other path. Metrics are counted from the first time on that somebody asks for them, unless
   * the host serves them by itself.
   */
  page(path: string): Promise<MonitoringPage | undefined>;
}
export const Monitoring = defineToken<Monitoring>('cinnabar.monitoring');
