import type { AgentScript, AgentTurn, LocalTool } from '@cinnabar/local-letta';
import { answering, namedIn } from '../../../plugins/relay/harness.js';
import type { Chance } from '../../settings/chance.js';
import { type Order, ordersIn } from './orders.js';

export interface AgentsDiary {
  /** Each time that an agent began to work on an order. */
  readonly begun: number[];
  /** Each time that the tool that needs an approval was really used, by the order's number. */
  readonly wiped: number[];
  /** What became of requests for approval, as the agents were told. */
  readonly decided: { readonly number: number; readonly status: string }[];
}

const connects = answering('');

/**
 * What agents do, by their orders: they post through the bot's tools, use a tool of their own that needs an approval and post what came of
 * it, or only say something, which the bot is to post for them. An agent that was told that a call failed does not repeat it.
 * @param onMoment called before and after each thing that an agent does
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
