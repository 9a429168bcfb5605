import type { AgentScript, AgentTurn, LocalTool } from '@cinnabar/local-letta';
import { answering, namedIn } from '../../../plugins/relay/harness.js';
import type { Chance } from '../../settings/chance.js';
import { type Order, ordersIn } from './orders.js';

export interface AgentsDiary {
  /** The orders that agents began to work on, once for each time. */
  readonly begun: number[];
  /** The orders for which the tool with approval was executed, once for each time. */
  readonly wiped: number[];
  /** The outcomes of requests for approval, as the agents received them. */
  readonly decided: { readonly number: number; readonly status: string }[];
}

const connects = answering('');

/**
 * Agents that execute orders: they post with the bot's tools, call a tool with approval and post its outcome, or only write a text, which the bot posts for
 * them. An agent does not repeat a call that failed.
 * @param onMoment called before and after each action of an agent
 */
export function createAgents(chance: Chance, onMoment: () => void) {
  const diary: AgentsDiary = { begun: [], wiped: [], decided: [] };

  const carryOut = async (turn: AgentTurn, { number, verb }: Order) => {
    diary.begun.push(number);
    const { channelId } = namedIn(turn.prompt);
    const post = (message: string) => turn.callTool('discord_send', { channelId, message });
    if (verb === 'post') await post(`posted for ${number}`);
    if (verb === 'wipe') {
      const { status } = await turn.callTool('wipe_disk', { order: number }, { approval: true });
      diary.decided.push({ number, status });
      onMoment();
      await post(`${status} for ${number}`);
    }
  };

  const script: AgentScript = async (turn) => {
    if (turn.prompt.startsWith('This is a test')) return void (await connects(turn));
    onMoment();
    const orders = ordersIn(turn.prompt);
    for (const order of orders) {
      await turn.wait(chance.below(600));
      await carryOut(turn, order);
      onMoment();
    }
    await turn.wait(chance.below(400));
    turn.say(`said for ${orders.map(({ number }) => number).join(', ')}`);
    onMoment();
  };
  const wipe: LocalTool = ({ order }) => {
    diary.wiped.push(Number(order));
    return 'Wiped.';
  };
  return { diary, script, tools: { wipe_disk: wipe } };
}
