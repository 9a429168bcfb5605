import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import type { Chance } from '../settings/chance.js';
import { type Told, told } from './messages.js';

/** The agent, which survives the processes that send to it: its records are the reference. */
export interface Agent extends AsyncDisposable {
  readonly address: string;
  /** All received messages, in order. */
  readonly seen: readonly Told[];
  /** Ids of the events that it has handled. */
  readonly done: ReadonlySet<string>;
  /** Called when a message arrives, and again before it is answered. */
  onMoment: () => void;
}

export async function startAgent(chance: Chance): Promise<Agent> {
  const seen: Told[] = [];
  const done = new Set<string>();
  const server = createServer(async (request, response) => {
    const message = told.parse(JSON.parse(await text(request)));
    seen.push(message);
    agent.onMoment();
    await setTimeout(chance.below(8));
    const fate = chance.below(20);
    // One in twenty messages fails; for one in twenty the connection is cut after the work, so that only the agent knows of it.
    if (fate !== 0) for (const id of message.ids) done.add(id);
    if (fate === 1) response.destroy();
    else response.writeHead(fate === 0 ? 503 : 200).end();
    agent.onMoment();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = server.address();
  if (at === null || typeof at === 'string') throw new Error('the agent does not listen');
  const agent: Agent = {
    address: `http://127.0.0.1:${at.port}`,
    seen,
    done,
    onMoment: () => undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return agent;
}
