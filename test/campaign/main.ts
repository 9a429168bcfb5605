/** `npm run campaign -- NAME [--seed N] [--rounds N] [--cluster]`: one long test. Prints its counts; exits with 1 on any violation. */
import { parseArgs } from 'node:util';

export interface CampaignOptions {
  readonly seed: number;
  readonly rounds: number;
  /** Whether each process is another machine of a cluster, for campaigns that support it. */
  readonly cluster?: boolean;
  readonly log: (line: string) => void;
}

export interface CampaignResult {
  readonly counts: Readonly<Record<string, number>>;
  /** Sentences with the information that is needed to reproduce each violation; empty on success. */
  readonly violations: readonly string[];
}

interface Campaign {
  readonly rounds: number;
  readonly load: () => Promise<(options: CampaignOptions) => Promise<CampaignResult>>;
}

const CAMPAIGNS: Readonly<Record<string, Campaign>> = {
  access: { rounds: 100_000, load: async () => (await import('./access.js')).accessCampaign },
  chat: { rounds: 1_000, load: async () => (await import('./chat.js')).chatCampaign },
  cluster: { rounds: 100, load: async () => (await import('./cluster.js')).clusterCampaign },
  confirm: { rounds: 10_000, load: async () => (await import('./confirm.js')).confirmCampaign },
  day: { rounds: 1, load: async () => (await import('./day.js')).dayCampaign },
  gateway: { rounds: 200, load: async () => (await import('./gateway.js')).gatewayCampaign },
  'confirm-kill': { rounds: 500, load: async () => (await import('./confirm-kill.js')).confirmKillCampaign },
  'mcp-conformance': {
    rounds: 1,
    load: async () => (await import('./mcp-conformance.js')).mcpConformanceCampaign,
  },
  inject: { rounds: 540, load: async () => (await import('./inject.js')).injectCampaign },
  powercut: { rounds: 200, load: async () => (await import('./powercut.js')).powercutCampaign },
  relay: { rounds: 200, load: async () => (await import('./relay.js')).relayCampaign },
  reload: { rounds: 200, load: async () => (await import('./reload.js')).reloadCampaign },
  'stop-signals': { rounds: 24, load: async () => (await import('./stop-signals.js')).stopSignalsCampaign },
  stops: { rounds: 200, load: async () => (await import('./stops.js')).stopsCampaign },
  trust: { rounds: 100_000, load: async () => (await import('./trust.js')).trustCampaign },
  tasks: { rounds: 500, load: async () => (await import('./tasks.js')).tasksCampaign },
  settings: { rounds: 200, load: async () => (await import('./settings.js')).settingsCampaign },
  stranger: { rounds: 1, load: async () => (await import('./stranger.js')).strangerCampaign },
};

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seed: { type: 'string' }, rounds: { type: 'string' }, cluster: { type: 'boolean', default: false } },
  });
  const [name = ''] = positionals;
  const campaign = CAMPAIGNS[name];
  if (campaign === undefined) {
    process.stderr.write(`There is no campaign "${name}"; there are ${Object.keys(CAMPAIGNS).join(', ')}.\n`);
    return 1;
  }
  const seed = wholeNumber(values.seed, Date.now() % 1_000_000);
  const rounds = wholeNumber(values.rounds, campaign.rounds);
  process.stderr.write(`campaign ${name}: seed ${seed}, ${rounds} rounds\n`);
  const run = await campaign.load();
  const { counts, violations } = await run({
    seed,
    rounds,
    cluster: values.cluster,
    log: (line) => process.stderr.write(`${line}\n`),
  });
  for (const [what, count] of Object.entries(counts)) process.stdout.write(`${what}: ${count}\n`);
  for (const violation of violations) process.stdout.write(`VIOLATION ${violation}\n`);
  process.stdout.write(`${violations.length} violations (seed ${seed})\n`);
  return violations.length === 0 ? 0 : 1;
}

function wholeNumber(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new RangeError(`"${text}" is not a whole number from 1`);
  return value;
}

process.exitCode = await main();
