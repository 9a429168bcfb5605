import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type LettaStandIn, startLettaStandIn } from '@cinnabar/local-letta';
import type { Clock } from '@cinnabar/sdk';
import Letta from '@letta-ai/letta-client';
import { asScript, type Model, startProvider } from './model.js';

/** A Letta server whose agents have a model of the test: a real server, or the stand-in. */
export interface LettaUnderTest extends AsyncDisposable {
  readonly baseUrl: string;
  /** Creates an agent with its own tool `wipe_disk`, which needs an approval. @returns its id */
  addAgent(name: string): Promise<string>;
  /** The real client, for actions at the server that the bot does not make. */
  readonly client: Letta;
  /** Kills the server and starts it again; `undefined` when the test cannot do that. */
  readonly crash: (() => Promise<void>) | undefined;
}

/** Environment variables: the address of a real server, and a command that kills it and starts it again. */
const { LETTA_BASE_URL, LETTA_API_KEY, LETTA_RESTART } = process.env;

export const isReal = LETTA_BASE_URL !== undefined;
export const canCrash = !isReal || LETTA_RESTART !== undefined;

export function startLettaUnderTest(model: Model, clock: Clock): Promise<LettaUnderTest> {
  return LETTA_BASE_URL === undefined ? startStandIn(model, clock) : connectReal(LETTA_BASE_URL, model);
}

const clientFor = (baseURL: string) =>
  new Letta({ baseURL, apiKey: LETTA_API_KEY ?? null, maxRetries: 0, logLevel: 'off' });

async function startStandIn(model: Model, clock: Clock): Promise<LettaUnderTest> {
  const letta: LettaStandIn = await startLettaStandIn({ clock });
  return {
    baseUrl: letta.baseUrl,
    client: clientFor(letta.baseUrl),
    async addAgent(name) {
      const tools = { wipe_disk: () => 'The disk is wiped.' };
      return letta.addAgent({ name, tools, approvals: ['wipe_disk'], script: asScript(model, name) }).id;
    },
    crash: async () => letta.crash(),
    [Symbol.asyncDispose]: () => letta[Symbol.asyncDispose](),
  };
}

const WIPE_DISK = `def wipe_disk(disk: str) -> str:
    """Wipes a disk.

    Args:
        disk (str): which
    """
    return "The disk is wiped."
`;

async function connectReal(baseUrl: string, model: Model): Promise<LettaUnderTest> {
  const provider = await startProvider(model);
  const client = clientFor(baseUrl);
  const made: string[] = [];
  return {
    baseUrl,
    client,
    async addAgent(name) {
      const wipe = await client.tools.upsert({ source_code: WIPE_DISK, default_requires_approval: true });
      const endpoint = { model_endpoint_type: 'openai', model_endpoint: provider.baseUrl } as const;
      const { id } = await client.agents.create({
        name,
        agent_type: 'letta_v1_agent',
        include_base_tools: false,
        tool_ids: [wipe.id],
        memory_blocks: [{ label: 'persona', value: 'I live in a guild.' }],
        llm_config: {
          ...endpoint,
          model: name,
          context_window: 64_000,
          handle: `openai/${name}`,
          parallel_tool_calls: true,
        },
        embedding_config: {
          embedding_model: 'e',
          embedding_endpoint_type: 'openai',
          embedding_endpoint: provider.baseUrl,
          embedding_dim: 1536,
          embedding_chunk_size: 300,
        },
      });
      made.push(id);
      return id;
    },
    crash: LETTA_RESTART === undefined ? undefined : () => run(LETTA_RESTART),
    async [Symbol.asyncDispose]() {
      for (const id of made) await client.agents.delete(id).catch(() => undefined);
      await provider[Symbol.asyncDispose]();
    },
  };
}

/** Runs a shell command. Meanwhile the bot keeps running, and cannot reach the server. @throws when it fails */
async function run(command: string): Promise<void> {
  const child = spawn(command, { shell: true, stdio: ['ignore', 'ignore', 'inherit'] });
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new Error(`"${command}" failed, with ${status}`);
}
