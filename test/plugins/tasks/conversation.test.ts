import { hang, say } from '@cinnabar/local-models';
import { Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { askUser, done, isOver, openTaskHarness, type TaskHarness, use, useTaskHost } from './harness.js';

describe('a conversation with a task', () => {
  const open = useTaskHost();
  let harness: TaskHarness;

  afterEach(async () => {
    harness.llm.release();
    await harness[Symbol.asyncDispose]();
  });

  const asked = async (id: string) => {
    await harness.when(id, ({ pendingQuestion }) => pendingQuestion !== undefined);
    await harness.host.settled();
  };
  const requested = (index: number) => JSON.stringify(harness.llm.requests[index]);

  it('hears at its next step what I write in its thread while it works, and shows me that it has', async () => {
    harness = await open({ steps: [hang(done('In red.')), done('In blue.')] });
    const { host } = harness;
    const { id } = await harness.give('Paint the door');
    const thread = await harness.thread(id);
    await harness.llm.hanging();
    const words = host.alice.say(thread, 'In blue, please!');
    await host.settled();
    expect(words.reactions.map(({ emoji }) => emoji.name)).to.deep.equal(['👀']);
    // A member with the right to direct the task replies to it.
    host.you.say(host.general, 'And quickly', { replyTo: harness.saying(host.general, 'Paint the door') });
    // Conversation of other members in the thread is not for the task, and neither are their replies to it.
    host.bob.say(host.general, 'In yellow!', { replyTo: harness.saying(host.general, 'Paint the door') });
    host.bob.say(thread, 'I like green');
    await host.settled();
    harness.llm.release();
    expect((await harness.over(id)).ending).to.equal('In blue.');
    expect(requested(1)).to.include('In blue, please!').and.include('And quickly');
    expect(requested(1)).to.not.match(/green|yellow/);
  });

  it('stops when I write stop in its thread, also while it asks', async () => {
    harness = await open({ steps: [askUser('Which colour?', ['Red', 'Blue'])] });
    const { id } = await harness.give('Paint the door');
    const thread = await harness.thread(id);
    await asked(id);
    harness.host.bob.say(thread, 'stop');
    await harness.host.settled();
    expect((await harness.tasks.get(id))?.status).to.equal('waiting_user');
    harness.host.alice.say(thread, 'Stop!');
    expect((await harness.over(id)).status).to.equal('cancelled');
  });

  it('goes on after its end with a new message: by reply, or by command', async () => {
    harness = await open({ steps: [done('It is red.'), done('It is blue.'), done('It is green.')] });
    const { host } = harness;
    await harness.configure('maxSteps', '1');
    const { id } = await harness.give('Paint the door');
    const thread = await harness.thread(id);
    await harness.over(id);
    host.alice.say(thread, 'Thank you!');
    await host.settled();
    expect((await harness.tasks.get(id))?.status).to.equal('completed');
    host.alice.say(thread, 'Blue would be nicer', { replyTo: harness.saying(thread, 'It is red.') });
    await harness.when(id, ({ ending }) => ending === 'It is blue.');
    await harness.over(id);
    expect(requested(1)).to.include('Paint the door').and.include('It is red.').and.include('Blue would be nicer');
    expect(harness.saying(thread, 'It is blue.').content)
      .to.include('Task complete')
      .and.include(`<@${host.alice.id}>`);
    host.alice.say(host.general, '!task continue No, in green');
    await harness.when(id, ({ ending }) => ending === 'It is green.');
    const { stepCount, status } = await harness.over(id);
    expect([stepCount, status]).to.deep.equal([3, 'completed']);
    harness.saying(thread, 'It is green.');
    expect(requested(2)).to.include('No, in green');
    host.bob.say(host.general, `!task continue ${id.slice(-5)} In black`);
    await host.settled();
    harness.saying(host.general, 'Only the member who asked for this task can continue it');
  });

  it('shows its question in the form, and refuses strangers before they type', async () => {
    harness = await open({ steps: [askUser('What is the name of your cat?'), done('Thanks.')] });
    const { host } = harness;
    const { id } = await harness.give('Ask me');
    const thread = await harness.thread(id);
    await asked(id);
    const question = harness.saying(thread, 'name of your cat');
    const foreign = host.bob.click(question, 'Answer…');
    await foreign.answered();
    expect(foreign.modal).to.equal(undefined);
    expect(foreign.response?.content).to.include('Only the member who asked for this task can answer');
    const form = host.alice.click(question, 'Answer…');
    await form.answered();
    expect(JSON.stringify(form.modal)).to.include('What is the name of your cat?');
    host.alice.submit(form, { Answer: 'Nibbles' });
    await harness.over(id);
    expect(question.content).to.match(/answered by <@\d+>: Nibbles/);
  });

  it('takes a choice that I type, shows it, and does not take “one moment” for one', async () => {
    harness = await open({ steps: [askUser('Which shelf?', ['Shelf A', 'Shelf B']), done('Tidy.')] });
    const { host } = harness;
    const { id } = await harness.give('Tidy');
    const thread = await harness.thread(id);
    await asked(id);
    host.alice.say(thread, 'one moment');
    await host.settled();
    expect((await harness.tasks.get(id))?.status).to.equal('waiting_user');
    harness.saying(thread, 'The question is still open: Shelf A · Shelf B');
    host.alice.say(thread, 'shelf b!');
    await harness.over(id);
    expect(requested(1)).to.include('The user answered: Shelf B').and.include('one moment');
    expect(harness.saying(thread, 'Which shelf?').content).to.include(': Shelf B');
  });

  it('takes a choice by its number or its first words, but not by a letter', async () => {
    const steps = [askUser('Send it?', ['Yes', 'No']), askUser('And now?', ['Yes, send it', 'No, leave it'])];
    harness = await open({ steps: [...steps, done('Tidy.')] });
    const { host } = harness;
    const { id } = await harness.give('Tidy');
    const thread = await harness.thread(id);
    await asked(id);
    host.alice.say(thread, 'n');
    await host.settled();
    harness.saying(thread, 'The question is still open: Yes · No');
    host.alice.say(thread, '2');
    await host.discord.expectMessage({ channel: thread, content: /And now/ });
    await asked(id);
    host.alice.say(thread, 'no');
    await harness.over(id);
    expect(requested(1)).to.include('The user answered: No');
    expect(requested(2)).to.include('The user answered: No, leave it');
  });

  it('takes the answer that I type in a direct message', async () => {
    harness = await openTaskHarness({
      steps: [askUser('What is its name?'), done('Thanks.')],
      plugins: ['ai', 'chat'],
    });
    const { host } = harness;
    const direct = host.alice.openDm(host.application);
    host.alice.say(direct, '!task Ask me');
    await host.discord.expectMessage({ channel: direct, content: /What is its name/ });
    await host.settled();
    host.alice.say(direct, 'Nibbles');
    await host.settled();
    await host.advance(1_000);
    await host.discord.expectMessage({ channel: direct, content: /Task complete/ });
    expect(requested(1)).to.include('The user answered: Nibbles');
    expect(harness.llm.requests).to.have.length(2);
  });

  it('stops when I write stop in the direct message where it works', async () => {
    harness = await openTaskHarness({ steps: [hang(done('Late.')), say('I am the chat.')], plugins: ['ai', 'chat'] });
    const { host } = harness;
    const direct = host.alice.openDm(host.application);
    host.alice.say(direct, '!task Work');
    await harness.llm.hanging();
    host.alice.say(direct, 'Stop please');
    await host.discord.expectMessage({ channel: direct, content: /Task stopped/ });
    expect(harness.llm.requests).to.have.length(1);
  });

  it('takes my answer and my stop in the thread in which I asked for it, and says in a channel how to answer', async () => {
    harness = await open({
      steps: [askUser('What is its name?'), hang(done('Named.')), askUser('And here?')],
    });
    const { host } = harness;
    const thread = host.alice.startThread(host.general, 'plans');
    const hears = async (user: typeof host.alice, text: string) => {
      user.say(thread, text);
      await host.settled();
    };
    await hears(host.alice, '!task Name the cat');
    await host.advance(1_000);
    expect(harness.saying(thread, 'What is its name?').content).to.not.include('as a reply');
    await hears(host.bob, 'Nobody');
    await hears(host.alice, 'Nibbles');
    await harness.llm.hanging();
    expect(requested(1)).to.include('The user answered: Nibbles');
    await hears(host.bob, 'stop');
    await hears(host.alice, 'I am off');
    await hears(host.alice, 'stop');
    await host.advance(1_000);
    const [task] = await harness.tasks.list({ guildId: harness.host.guild.id });
    expect(task?.status).to.equal('cancelled');
    await harness.configure('threads', 'false');
    const { id } = await harness.give('Ask here');
    await asked(id);
    expect(harness.saying(host.general, 'And here?').content).to.include('answer with a button, or as a reply to this');
  });

  it('says how it stands: no waiting where there is room, typing where it works, its end in its details', async () => {
    harness = await open({ steps: [hang(use('look', 'one')), done('One.')] });
    const { host } = harness;
    const contents: string[] = [];
    const typing: string[] = [];
    host.discord.observe((event) => {
      if (event.type === 'messageCreate' || event.type === 'messageEdit') contents.push(event.message.content);
      if (event.type === 'typing') typing.push(event.channel.id);
    });
    const { id } = await harness.give('Look');
    const thread = await harness.thread(id);
    await harness.llm.hanging();
    await host.settled();
    harness.llm.release();
    await harness.over(id);
    expect(contents.filter((content) => content.includes('waiting for room'))).to.deep.equal([]);
    expect(typing).to.include(thread.id).and.not.include(host.general.id);
    const click = host.alice.click(harness.saying(host.general, 'Look'), 'Details');
    await click.answered();
    expect(click.response?.content).to.include('`task_complete` ✓').and.not.include('not run');
  });

  it('is explained by `!why`, as a reply to what it has said and to its status', async () => {
    harness = await openTaskHarness({ steps: [say('Here I am.'), done('Done.')], plugins: ['accounts'] });
    const { host } = harness;
    const { id } = await harness.give('Say something');
    const thread = await harness.thread(id);
    await harness.over(id);
    const why = async (channel: typeof thread, text: string) => {
      host.alice.say(channel, '!why', { replyTo: harness.saying(channel, text) });
      await host.settled();
      return harness.said(channel).at(-1)?.content;
    };
    expect(await why(thread, 'Here I am.')).to.include('step 1');
    expect(await why(thread, 'Task complete')).to.include('step 2');
    expect(await why(host.general, 'Say something')).to.include('step 2');
  });

  it('counts for the channel in which it was started: its cost, its budget', async () => {
    harness = await openTaskHarness({ steps: [say('Here I am.'), done('Done.')], plugins: ['accounts'] });
    const { host } = harness;
    const { id } = await harness.give('Say something');
    const thread = await harness.thread(id);
    await harness.over(id);
    const cost = async (channel: typeof thread) => {
      host.alice.say(channel, '!cost channel');
      await host.settled();
      return harness.said(channel).at(-1)?.content;
    };
    const ofChannel = await cost(host.general);
    expect(ofChannel).to.include('2 runs');
    expect(await cost(thread)).to.equal(ofChannel);
  });

  it('tells the conversation in which another mind started it how it ended', async () => {
    harness = await open({ steps: [done('All is tidy.')] });
    const { host } = harness;
    const actor = harness.actor();
    const outcome = await host
      .resolve(Tools)
      .invoke({ name: 'start_task', arguments: { goal: 'Tidy up' }, actor, origin: 'chat' });
    await host.settled();
    host.alice.react(harness.saying(host.general, 'start a task: Tidy up'), '👍');
    if (outcome.status === 'deferred') await outcome.settled;
    const [task] = await harness.tasks.list({ guildId: harness.host.guild.id });
    await harness.when(task?.id ?? '', isOver);
    await harness.over(task?.id ?? '');
    expect(harness.saying(host.general, 'All is tidy.').content).to.match(
      /^The task \w+ that I started for .* is complete: All is tidy\.$/,
    );
  });
});
