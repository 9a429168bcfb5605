import type { AgentScript } from '@cinnabar/local-letta';
import {
  callTool,
  callToolRaw,
  callTools,
  fail,
  type ModelScript,
  type ModelStep,
  type PromptView,
  say,
} from '@cinnabar/local-models';
import { namedIn } from '../../plugins/relay/harness.js';
import { type Asked, answeredIn, type BotName, codesIn, type Kind, type Requests } from './requests.js';

/** The kinds of requests that a model in a channel answers. */
const CHAT_KINDS: ReadonlySet<Kind> = new Set(['question', 'notice']);
const TASK_KINDS: ReadonlySet<Kind> = new Set(['task', 'asking task', 'night task']);
/** Maximum age of a failed question that is answered later. */
const FRESH_MS = 150_000;

interface MindOptions {
  readonly bot: BotName;
  readonly requests: Requests;
  readonly now: () => number;
  /** Whether the model's service has an outage. */
  readonly isOut: () => boolean;
  /** The latest request, as received. */
  readonly body: () => unknown;
}

/**
 * The model of one bot, for all its plugins: it answers each code with `re` and the code, calls the tool for notices, and works on tasks step by step. Its
 * answer depends only on the request, so that a repeated request gets the same answer.
 */
export function createMind({ bot, requests, now, isOut, body }: MindOptions): ModelScript {
  const pendingIn = (text: string, kinds: ReadonlySet<Kind>): readonly Asked[] => {
    const answered = new Set(answeredIn(text));
    return [...new Set(codesIn(text))].flatMap((code) => {
      const asked = requests.get(code);
      return asked?.bot === bot && kinds.has(asked.kind) && !answered.has(code) ? [asked] : [];
    });
  };
  const answer = (asked: readonly Asked[]) => asked.map(({ code }) => `re ${code}: so it is.`).join(' And ');

  const talk = (view: PromptView, text: string): ModelStep => {
    const pending = pendingIn(text, CHAT_KINDS).filter(({ at }) => now() - at < FRESH_MS);
    const noticed = new Set(text.match(/"notice\\*":\s*\\*"zq\d+/g)?.flatMap(codesIn));
    const called = pending.filter(({ kind, code }) => kind === 'notice' && noticed.has(code));
    if (view.results.length > 0 && called.length > 0) return say(answer(called));
    const open = pending.filter(({ code }) => !noticed.has(code));
    const wanted = view.tools.includes('post_notice') ? open.filter(({ kind }) => kind === 'notice') : [];
    if (wanted.length > 0) {
      const others = open.filter((asked) => !wanted.includes(asked));
      return callTools(
        wanted.map(({ code }) => ({ name: 'post_notice', arguments: { notice: code } })),
        others.length === 0 ? {} : { text: answer(others) },
      );
    }
    return say(open.length === 0 ? 'I have nothing to add, zq0.' : answer(open));
  };

  const work = (text: string): ModelStep => {
    const [asked] = pendingIn(/My task for you: .*/.exec(text)?.[0] ?? '', TASK_KINDS);
    if (asked === undefined) return callTool('task_complete', { summary: 'Nothing is left to do, zq0.' });
    const { code, kind } = asked;
    const calls = text.match(/"type":"tool_use"/g)?.length ?? 0;
    const plan: readonly ModelStep[] =
      kind === 'asking task'
        ? [
            callTool('calculate', { expression: '6*7' }),
            callTool('ask_user', { question: `Which colour for ${code}?` }),
          ]
        : [
            callTool('send_update', { message: `I have begun with ${code}.` }),
            callTool('calculate', { expression: '6*7' }),
            callTool('post_notice', { notice: code }),
          ];
    return plan[calls] ?? callTool('task_complete', { summary: `re ${code}: it is finished.` });
  };

  const plan = (view: PromptView, text: string): ModelStep => {
    const pending = pendingIn(text, new Set<Kind>(['persona'])).filter(({ at }) => now() - at < FRESH_MS);
    const actions =
      pending.length === 0 ? [] : [{ action: 'SPEAK', context: '', result: { message: answer(pending) } }];
    return callToolRaw(view.tools[0] ?? '', JSON.stringify({ reasoning: 'So be it.', actions, can_extend: false }));
  };

  return (view) => {
    if (isOut()) return fail(503, { message: 'The service is not available.' });
    const text = JSON.stringify(body());
    if (view.tools.includes('task_complete')) return work(text);
    if (view.tools.length === 1 && view.system.startsWith('I am ')) return plan(view, text);
    return talk(view, text);
  };
}

/** An agent at the Letta server: it waits, then answers with the bot's tools. */
export function createAgent(requests: Requests) {
  const active = new Set<string>();
  const out = new Set<Asked>();
  const script: AgentScript = async (turn) => {
    const answered = answeredIn(turn.prompt);
    const asked = [...new Set(codesIn(turn.prompt))].flatMap((code) => {
      const one = requests.get(code);
      return one?.kind === 'agent' && !answered.includes(code) ? [one] : [];
    });
    for (const one of asked) out.add(one);
    try {
      if (asked.length > 0) await turn.wait(Math.max(...asked.map(({ agentTakesMs }) => agentTakesMs)));
      active.add(turn.runId);
      const { channelId } = namedIn(turn.prompt);
      const isTrial = turn.prompt.startsWith('This is a test');
      if (isTrial) await turn.callTool('discord_send', { channelId, message: 'I am connected, zq0.' });
      for (const { code, message } of asked)
        await turn.callTool('discord_send', {
          channelId,
          message: `re ${code}: says the agent.`,
          replyToMessageId: message.id,
        });
    } finally {
      active.delete(turn.runId);
      for (const one of asked) out.delete(one);
    }
  };
  return {
    script,
    /** Whether it does anything else than waiting for the clock. */
    isActive: () => active.size > 0,
    /** Requests that it has received and not finished. */
    out: (): ReadonlySet<Asked> => out,
  };
}
