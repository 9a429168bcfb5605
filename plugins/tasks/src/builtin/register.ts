import { lookup } from 'node:dns/promises';
import type { Registrar, WorkerModule } from '@cinnabar/sdk';
import { calculateTool } from './calculate/calculate.js';
import { type DueParts, startDue } from './follow-ups/due.js';
import { cancelTool, listTool, type PlanParts, planTool } from './follow-ups/tools.js';
import { fetchUrlTool } from './web/fetch-url.js';
import { isPublicAddress } from './web/public-address.js';
import type { WebReader } from './web/reader.js';

const MOST_BYTES = 2 * 1024 * 1024;
const TIMEOUT_MS = 20_000;
/** Where web servers are, beside the ports of http and https. */
const PORTS = [8080, 8443];

type FollowUpParts = DueParts & PlanParts;

const LOOK_FOR_DUE_MS = 15_000;

/** Tools of its own that are worth having for every mind. The reader's library is loaded with the first page. */
export function registerBuiltinTools(
  { tool, defer, every }: Pick<Registrar, 'tool' | 'defer' | 'every'>,
  followUps: FollowUpParts,
  pages: WorkerModule<typeof import('./web/worker.js')>,
): void {
  const { clock, client } = followUps;
  let opened: Promise<WebReader> | undefined;
  const open = async () => {
    const { createWebReader } = await import('./web/reader.js');
    return createWebReader({
      clock,
      htmlToText: (html, options) => pages.run('htmlToText', html, options),
      isPublic: isPublicAddress,
      resolve: (hostname) => lookup(hostname, { all: true }),
      ports: PORTS,
      mostBytes: MOST_BYTES,
      timeoutMs: TIMEOUT_MS,
    });
  };
  tool(
    fetchUrlTool({
      async read(...page) {
        opened ??= open();
        return (await opened).read(...page);
      },
    }),
  );
  tool(calculateTool);
  tool(planTool(followUps));
  tool(listTool(followUps));
  tool(cancelTool(followUps));
  // Until it is known where this process is, nothing can be started.
  every(LOOK_FOR_DUE_MS, () => (client.isReady() ? startDue(followUps) : undefined));
  defer(async () => (await opened)?.close());
}
