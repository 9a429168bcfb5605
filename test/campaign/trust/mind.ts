import type { AgentTurn } from '@cinnabar/local-letta';
import { callTool, callTools, hang, type ModelStep, type PromptView, say } from '@cinnabar/local-models';
import type { LlmRequest } from '@cinnabar/sdk';
import { namedIn } from '../../plugins/relay/harness.js';
import type { Dice } from '../confirm/dice.js';
import { markersIn } from './oracle.js';

/** A model that requests everything it can, stores everything it has read wherever it can, and repeats only what everyone in the place may read. */
export interface Mind {
  /** Called with each request before it is answered. */
  onRequest: (text: string, request: LlmRequest) => void;
  /** The next tool call, with arguments for any place. */
  wish: () => { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
  /** The words that everyone in the place may read, among those that the model has read. */
  speakable: (markers: readonly string[]) => readonly string[];
  /** The words of the question: data that is stored about an answer has that message as its source. */
  asked: readonly string[];
  /** Makes the next answer hang until it is released, so that others ask in the meantime. */
  holdNext: boolean;
  isHolding(): boolean;
  /** Releases all hanging answers. */
  release(): void;
  answer(view: PromptView, request: LlmRequest | undefined): ModelStep;
  /** Called with each prompt of an agent, and with each tool result that it gets (then with the tool's name). */
  onAgent: (text: string, agent: string, tool?: string) => void;
  /** One turn of an agent. */
  live(turn: AgentTurn): Promise<void>;
}

const MOST_CALLS = 3;
/** An agent has fewer tools. */
const MOST_WISHES = 8;

export function createMind(dice: Dice): Mind {
  let calls = 0;
  let holding = false;
  const mind: Mind = {
    onRequest: () => undefined,
    wish: () => ({ name: 'discord_list_servers', arguments: {} }),
    speakable: () => [],
    asked: [],
    holdNext: false,
    isHolding: () => holding,
    release() {
      holding = false;
    },
    onAgent: () => undefined,
    async live(turn) {
      const { agentName, prompt, tools } = turn;
      mind.onAgent(prompt, agentName);
      let shown = markersIn(prompt);
      for (let n = dice.between(0, MOST_CALLS); n > 0; n -= 1) {
        let wish = mind.wish();
        for (let tries = 0; tries < MOST_WISHES && !tools.includes(wish.name); tries += 1) wish = mind.wish();
        const { name, arguments: input } = wish;
        if (!tools.includes(name)) continue;
        const { text } = await turn.callTool(name, input);
        mind.onAgent(text, agentName, name);
        shown = [...shown, ...markersIn(text)];
      }
      const { channelId, messageId } = namedIn(prompt);
      if (channelId === undefined || !tools.includes('discord_send')) return;
      const isTrial = prompt.startsWith('This is a test of your connection');
      const message = isTrial ? 'I am connected.' : `Well: ${mind.speakable(shown).slice(-2).join(' and ')}.`;
      const reply = messageId === undefined ? {} : { replyToMessageId: messageId };
      await turn.callTool('discord_send', { channelId, message, ...reply });
    },
    answer(view, request) {
      if (request === undefined) throw new Error('there is no request');
      const text = JSON.stringify([request.system, request.messages, request.tools]);
      mind.onRequest(text, request);
      const isHeld = mind.holdNext && request.output === undefined && !view.tools.includes('task_complete');
      if (isHeld) {
        holding = true;
        mind.holdNext = false;
        return hang(say('One moment.'));
      }
      const shown = markersIn(text);
      if (request.output !== undefined)
        return say(JSON.stringify(planOf(mind.asked.filter((word) => shown.includes(word)))));
      const isTask = view.tools.includes('task_complete');
      const mayCall = view.tools.length > 0 && calls < MOST_CALLS;
      if (mayCall && dice.chance(0.6)) {
        calls += 1;
        if (isTask && dice.chance(0.2)) return callTool('take_note', { note: `I have read ${anyOf(shown)}` });
        const { name, arguments: input } = mind.wish();
        if (view.tools.includes(name)) return callTools([{ name, arguments: input }]);
      }
      calls = 0;
      const quoted = mind.speakable(shown).slice(-2).join(' and ');
      if (isTask) return callTool('task_complete', { summary: `It is done: ${quoted}` });
      return say(`Well: ${quoted}.`);
    },
  };
  const anyOf = (markers: readonly string[]) => markers[dice.between(0, Math.max(0, markers.length - 1))] ?? 'nothing';

  /** The plan of a persona: memories, goals and feelings about the words that it was asked about. */
  function planOf(shown: readonly string[]) {
    const kept: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
      ['ADD_MEMORY', { text: `They spoke of ${anyOf(shown)}.`, about: 'alice', importance: 8 }],
      ['ADD_GOAL', { goal: `understand ${anyOf(shown)}` }],
      ['ADD_DESIRE', { desire: `hear of ${anyOf(shown)}` }],
      ['UPDATE_MOOD', { mood: `minding ${anyOf(shown)}`, intensity: 7 }],
      ['UPDATE_ENVIRONMENT', { environment: `A room with ${anyOf(shown)} on the wall.` }],
      ['UPDATE_APPEARANCE', { appearance: `Wears ${anyOf(shown)}.` }],
      ['REFLECT', { reflection: `It is all about ${anyOf(shown)}.`, importance: 8 }],
      ['THINK', { thought: `What of ${anyOf(shown)}?` }],
    ];
    const actions = kept.filter(() => dice.chance(0.3)).map(([action, result]) => ({ action, context: '', result }));
    if (dice.chance(0.4)) {
      const { name: tool, arguments: input } = mind.wish();
      actions.push({ action: 'USE_TOOL', context: '', result: { tool, arguments: input } });
    }
    actions.push({ action: 'SPEAK', context: '', result: { message: 'So it is.' } });
    return { reasoning: 'It seems right.', actions, can_extend: false };
  }
  return mind;
}
