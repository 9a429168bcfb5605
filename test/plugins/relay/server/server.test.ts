import { expect } from 'chai';
import { type Guild, openGuild } from './harness.js';
import { canCrash, isReal } from './letta-under-test.js';
import type { Model, Question, Step } from './model.js';

/** The channel and the message in a prompt. */
function placeIn(prompt: string) {
  const channelId = /- Channel: .* \(ID: (\d+)\)/.exec(prompt)?.[1] ?? '';
  return { channelId, replyToMessageId: /^- Message ID: (\d+)$/m.exec(prompt)?.[1] };
}

/** The latest message of alice in the prompt. */
const askedIn = ({ prompt }: Question) =>
  /^alice: (?:<@\d+> )?(.*)$/m.exec(prompt.slice(prompt.indexOf('**Current')))?.[1];

/** Answers with text, which the bot posts. */
const answering: Model = (question) => ({ say: `An answer to: ${askedIn(question)}` });

/** Posts with a tool, and answers with no other text. */
const posting =
  (words: string): Model =>
  ({ prompt, results }) => {
    if (results.length > 0) return { say: 'Posted.' };
    const { channelId } = placeIn(prompt);
    return { calls: [{ name: 'discord_send', args: { channelId, message: words } }] };
  };

/** Calls the tool that needs an approval, and reports its outcome. */
const wiping: Model = ({ results }): Step =>
  results.length === 0
    ? { calls: [{ name: 'wipe_disk', args: { disk: 'sda' } }] }
    : { say: `It says: ${results.at(-1)}` };

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** The request with the prompt of alice's message; decisions are sent with another one. */
const brings = (words: string) => (body: string) => body.includes('"messages"') && body.includes(words);
const decides = (body: string) => body.includes('"approvals"');

describe(`relay: at a Letta server (${isReal ? 'a real one' : 'the stand-in'}), everything is said once, right, in the right channel`, function () {
  this.timeout(isReal ? 900_000 : 60_000);
  this.slow(isReal ? 60_000 : 5_000);
  let guild: Guild;
  before(async () => {
    guild = await openGuild();
    await guild.settle('aurora');
  });
  beforeEach(() => guild.play(answering));
  after(() => guild?.[Symbol.asyncDispose]());

  const isCard = (content: string) => content.includes('use its tool wipe') && content.startsWith('📋');
  /** Waits for the card of the approval, and approves it. */
  const approve = async () => {
    const cards = () => guild.general.messages.filter(({ content }) => isCard(content));
    const before = cards().length;
    return async () => {
      await guild.until('a card', () => cards().length > before && (cards().at(-1)?.reactions.length ?? 0) > 0);
      const card = cards().at(-1);
      if (card !== undefined) guild.alice.react(card, '👍');
    };
  };
  /** The messages without cards and their replacements. */
  const words = (said: readonly string[]) =>
    said.filter((line) => !/wipe_disk|use its tool|✓ The agent may/.test(line));

  it('an answer comes where it was asked for', async () => {
    const first = guild.ask('staff only', guild.staff);
    expect(await guild.answers(first)).to.deep.equal(['#staff: An answer to: staff only']);
    const second = guild.ask('for all');
    expect(await guild.answers(second)).to.deep.equal(['#general: An answer to: for all']);
  });

  it('a text that the agent has posted is not posted again', async () => {
    guild.play(posting('I post this.'));
    expect(await guild.answers(guild.ask('post'))).to.deep.equal(['#general: I post this.']);
  });

  for (const [where, name] of [
    ['before', 'before it arrives'],
    ['headers', 'after it has arrived, and the run goes on'],
    ['end', 'when all has been done'],
    ['first piece', 'in the middle of the answer'],
  ] as const) {
    it(`a prompt whose connection is lost ${name}`, async () => {
      await guild.answers(guild.ask(`in staff ${where}`, guild.staff));
      const before = guild.line.cuts;
      guild.line.cut(where, brings(`lost ${where}`));
      expect(await guild.answers(guild.ask(`lost ${where}`))).to.deep.equal([`#general: An answer to: lost ${where}`]);
      expect(guild.line.cuts).to.equal(before + 1);
    });
  }

  it('an agent that waits for an unknown decision is released, and answers', async () => {
    const id = await guild.settle('borealis');
    guild.play(wiping);
    const stream = await guild.letta.client.agents.messages.create(id, {
      messages: [{ role: 'user', content: 'wipe it' }],
      streaming: true,
    });
    for await (const _ of stream);
    guild.play((question) => (question.results.length > 0 ? { say: 'Never mind.' } : answering(question)));
    expect(await guild.answers(guild.ask('borealis, are you there?'))).to.deep.equal([
      '#general: An answer to: borealis, are you there?',
    ]);
  });

  for (const [where, name] of [
    [undefined, 'is carried out once'],
    ['before', 'is sent again when it is lost'],
    ['end', 'is not repeated when the answer to it is lost'],
  ] as const) {
    it(`a decision ${name}`, async () => {
      guild.play(wiping);
      const approved = await approve();
      if (where !== undefined) guild.line.cut(where, decides);
      const asked = guild.ask(`wipe, decision ${where}`);
      await approved();
      await guild.until('the outcome', () => words(guild.saidSince(asked)).length > 0);
      expect(words(await guild.answers(asked))).to.deep.equal(['#general: It says: The disk is wiped.']);
    });
  }

  it('a restart while the agent thinks', async () => {
    const { opened, open } = gate();
    let thinks = 0;
    guild.play((question) => {
      thinks += 1;
      return { ...answering(question), after: opened };
    });
    const asked = guild.ask('think about it');
    await guild.until('thinking', () => thinks > 0);
    await guild.restart();
    open();
    expect(await guild.answers(asked)).to.deep.equal(['#general: An answer to: think about it']);
    expect(thinks).to.equal(1);
  });

  it('a restart after the agent has used a tool', async () => {
    const { opened, open } = gate();
    guild.play((question) => {
      const step = posting('Posted before the restart.')(question);
      return question.results.length > 0 ? { ...step, after: opened } : step;
    });
    const asked = guild.ask('post, then go down');
    await guild.answers(asked);
    await guild.restart();
    open();
    expect(await guild.answers(asked)).to.deep.equal(['#general: Posted before the restart.']);
  });

  it('an agent that takes too long is said to, and does not work on two things at once', async () => {
    await guild.admin('!relay config agent_timeout 10');
    const { opened, open } = gate();
    let [atOnce, most] = [0, 0];
    guild.play((question) => {
      const isSlow = question.prompt.includes('take your time');
      atOnce += 1;
      most = Math.max(most, atOnce);
      const after = (isSlow ? opened : Promise.resolve()).then(() => {
        atOnce -= 1;
      });
      return { ...answering(question), after };
    });
    const asked = guild.ask('take your time');
    expect(await guild.answers(asked)).to.deep.equal(['#general: The agent took longer than 10 s.']);
    await guild.admin('!relay config agent_timeout 600');
    const next = guild.ask('and now?');
    open();
    expect(await guild.answers(next)).to.deep.equal(['#general: An answer to: and now?']);
    expect(most).to.equal(1);
  });

  it('two calls of one step, whose outcomes come in one message', async () => {
    guild.play(({ prompt, results }) => {
      const { channelId } = placeIn(prompt);
      const send = (message: string) => ({ name: 'discord_send', args: { channelId, message } });
      return results.length > 0 ? { say: 'Both are posted.' } : { calls: [send('The first.'), send('The second.')] };
    });
    expect([...(await guild.answers(guild.ask('twice'), 2))].sort()).to.deep.equal([
      '#general: The first.',
      '#general: The second.',
    ]);
  });

  it('a long answer comes whole, in order', async () => {
    const lines = Array.from({ length: 300 }, (_, n) => `This is line ${n} of the answer.`);
    guild.play(() => ({ say: lines.join('\n') }));
    const said = await guild.answers(guild.ask('at length'), 5);
    const whole = said.map((line) => line.replace('#general: ', '')).join(' ');
    expect(whole.split(/\s+/)).to.deep.equal(lines.join(' ').split(' '));
  });

  it("a refusal of the model's provider is reported as such, once", async () => {
    guild.play(() => ({ refuse: 401 }));
    expect(await guild.answers(guild.ask('with a wrong key'))).to.deep.equal([
      "#general: The agent's model does not accept the key of the Letta server. Its owner has to set the key anew.",
    ]);
  });

  it('a tool that is granted later can be used', async () => {
    const pins: Model = ({ prompt, results }) => {
      const { channelId, replyToMessageId } = placeIn(prompt);
      if (results.length > 0) return { say: 'Pinned.' };
      return { calls: [{ name: 'discord_pin_message', args: { channelId, messageId: replyToMessageId } }] };
    };
    await guild.admin('!relay grant tool discord_pin_message allow aurora');
    expect(await guild.setUp('aurora')).to.include('pin\\_message');
    guild.play(pins);
    const asked = guild.ask('pin this');
    await guild.until('the pin', () => asked.pinned);
    // The message that the agent has posted in Discord is its answer.
    expect(await guild.answers(asked, 0)).to.deep.equal([]);
  });

  it('an agent that has been deleted is said to be', async () => {
    const id = await guild.settle('comet');
    await guild.letta.client.agents.delete(id);
    expect(await guild.answers(guild.ask('comet, hello?'))).to.deep.equal([
      '#general: The Letta server has no such agent any more.',
    ]);
  });

  if (canCrash)
    it('a server that is killed while the agent thinks', async () => {
      await guild.admin('!relay config agent_timeout 20');
      const { opened, open } = gate();
      let thinks = 0;
      guild.play((question) => {
        thinks += 1;
        return question.prompt.includes('before it falls')
          ? { ...answering(question), after: opened }
          : answering(question);
      });
      const asked = guild.ask('before it falls');
      await guild.until('thinking', () => thinks > 0);
      await guild.letta.crash?.();
      open();
      const said = await guild.answers(asked);
      expect(said).to.have.length(1);
      expect(said[0]).to.match(/^#general: (An answer to: before it falls|The agent (cannot be reached|took longer))/);
      const next = guild.ask('are you back?');
      expect(await guild.answers(next)).to.deep.equal(['#general: An answer to: are you back?']);
    });
});
