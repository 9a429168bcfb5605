import { fileURLToPath } from 'node:url';
import type { LocalChannel } from '@cinnabar/local-discord';
import { expect } from 'chai';
import {
  type ApplicationCommandDataResolvable,
  ApplicationCommandOptionType,
  type Client,
  ComponentType,
  type Interaction,
  type MessageCreateOptions,
  MessageFlags,
  type ModalComponentData,
} from 'discord.js';
import type { Browser, Locator, Page } from 'playwright-core';
import { handClock, type NightCity, nightCity, onInteraction, textChannel } from '../../sdk/local-discord/support.js';
import { accessibilityProblems, describeChromium, LATE_EFFECTS, launchChromium } from '../../support/chromium.js';

const page = fileURLToPath(new URL('public', import.meta.resolve('@cinnabar/local-client/package.json')));
const HOUR_MS = 3_600_000;
/** In the browser: the pictures are loaded, and the newest message is in view. */
const IS_AT_END = `(() => {
  const list = document.querySelector('.messages');
  const isLoaded = [...list.querySelectorAll('img')].every((image) => image.naturalWidth > 0);
  return isLoaded && list.scrollHeight - list.scrollTop - list.clientHeight < 2;
})()`;
const DISHES = [
  { name: 'Pizza Margherita', value: 'dish-1' },
  { name: 'Ramen', value: 'dish-2' },
];

const COMMANDS: readonly ApplicationCommandDataResolvable[] = [
  {
    name: 'order',
    description: 'Orders something to eat',
    options: [
      {
        type: ApplicationCommandOptionType.String,
        name: 'dish',
        description: 'What to eat',
        required: true,
        autocomplete: true,
      },
      {
        type: ApplicationCommandOptionType.Integer,
        name: 'count',
        description: 'How many, 9 at most',
        min_value: 1,
        max_value: 9,
      },
      { type: ApplicationCommandOptionType.User, name: 'guest', description: 'Who eats it' },
    ],
  },
  { name: 'whisper', description: 'Says something that only you can see' },
];

const SURVEY: ModalComponentData = {
  customId: 'survey',
  title: 'Survey',
  components: [
    {
      type: ComponentType.Label,
      label: 'Guest',
      component: { type: ComponentType.UserSelect, customId: 'guest', required: true },
    },
    {
      type: ComponentType.Label,
      label: 'Colours',
      component: {
        type: ComponentType.StringSelect,
        customId: 'colours',
        maxValues: 2,
        options: ['red', 'green', 'blue'].map((value) => ({ label: value, value })),
      },
    },
  ],
};

/** The behaviour of the bot in these tests. */
async function answer(interaction: Interaction): Promise<void> {
  if (interaction.isAutocomplete()) {
    // Suggests other names than those that begin with the text: the page must not filter them.
    const typed = interaction.options.getFocused();
    await interaction.respond(typed === 'lunch' || typed === '' ? DISHES : []);
  } else if (interaction.isChatInputCommand() && interaction.commandName === 'order') {
    const { options } = interaction;
    const guest = options.getUser('guest')?.displayName;
    await interaction.reply(`Ordered: ${options.getString('dish')}, ${options.getInteger('count')}, ${guest}`);
  } else if (interaction.isChatInputCommand()) {
    await interaction.reply({ content: 'A secret', flags: MessageFlags.Ephemeral });
  } else if (interaction.isAnySelectMenu()) {
    await interaction.reply(`${interaction.customId}: ${interaction.values.join(' and ')}`);
  } else if (interaction.isButton() && interaction.customId === 'survey') {
    await interaction.showModal(SURVEY);
  } else if (interaction.isModalSubmit() && interaction.customId === 'survey') {
    const { fields } = interaction;
    const guest = fields.getSelectedUsers('guest', true).first()?.displayName;
    await interaction.reply(`${guest}: ${fields.getStringSelectValues('colours').join(' and ')}`);
  } else if (interaction.isButton()) {
    await interaction.showModal({
      customId: 'form',
      title: 'Guest book',
      components: [
        {
          type: ComponentType.ActionRow,
          components: [{ type: ComponentType.TextInput, customId: 'words', label: 'Your words', style: 1 }],
        },
      ],
    });
  } else if (interaction.isModalSubmit()) {
    await interaction.reply(`Written: ${interaction.fields.getTextInputValue('words')}`);
  }
}

const menu = (component: object) => ({ type: ComponentType.ActionRow, components: [component] });
const COLOURS = ['red', 'green', 'blue'].map((value) => ({ label: value, value, description: `The colour ${value}` }));
const MENUS: MessageCreateOptions = {
  content: 'Menus of all kinds',
  components: [
    menu({ type: ComponentType.StringSelect, custom_id: 'one', placeholder: 'A colour', options: COLOURS }),
    menu({
      type: ComponentType.StringSelect,
      custom_id: 'two',
      placeholder: 'Colours',
      max_values: 2,
      options: COLOURS,
    }),
    menu({ type: ComponentType.UserSelect, custom_id: 'user', placeholder: 'A member' }),
    menu({ type: ComponentType.ChannelSelect, custom_id: 'channel', placeholder: 'A channel' }),
    menu({ type: ComponentType.Button, style: 1, custom_id: 'write', label: 'Write' }),
  ],
};

describeChromium('a member on the page of the local Discord', () => {
  const clock = handClock();
  let browser: Browser;
  let city: NightCity;
  let bot: Client<true>;
  let failed: Promise<unknown>;
  let window: Page;
  before(async () => {
    const advance = async (ms: number) => clock.advance(ms);
    city = await nightCity({ clock, users: { page, advance } });
    [bot, browser] = await Promise.all([city.login(), launchChromium()]);
    await bot.application.commands.set(COMMANDS, city.guild.id);
    failed = onInteraction(bot, answer);
    window = await visit({ colorScheme: 'dark' });
  });
  after(async () => {
    await browser.close();
    await city.close();
  });

  const visit = async (options: Parameters<Browser['newContext']>[0] = {}, as = city.you): Promise<Page> => {
    const opened = await (await browser.newContext(options)).newPage();
    // Below the test's own limit, whose error is less specific.
    opened.setDefaultTimeout(20_000);
    await opened.goto(city.discord.clientAddress(as));
    await opened.getByRole('textbox', { name: 'Message #general' }).waitFor();
    return opened;
  };
  /** Creates a channel for the test, and shows it on the page. */
  const enter = async (name: string): Promise<LocalChannel> => {
    const channel = city.guild.createChannel({ name });
    await window.getByRole('button', { name: `#${name}` }).click();
    await box(name).waitFor();
    return channel;
  };
  const box = (name: string) => window.getByRole('textbox', { name: new RegExp(`^Message .${name}$`) });
  const messages = () => window.getByRole('region', { name: 'Messages' });
  /** Waits for a text among the messages; a failure of the bot is reported instead. */
  const reads = async (text: string | RegExp, where: Page = window) => {
    const found = where.getByRole('region', { name: 'Messages' }).getByText(text).first();
    await Promise.race([found.waitFor(), failed.then((error) => Promise.reject(error))]);
  };

  /** Waits for a condition in the browser, checked at each frame. */
  const until = async (expression: string) => {
    while ((await window.evaluate(expression)) !== true) await window.evaluate('new Promise(requestAnimationFrame)');
  };
  /** Waits until the element has the focus. */
  const focusIn = (where: Locator) => where.and(window.locator(':focus')).waitFor();

  it('fills in a slash command by its hints, with what the bot suggests', async () => {
    await enter('kitchen');
    await box('kitchen').fill('/ord');
    await window.getByRole('option', { name: '/order Orders something to eat' }).waitFor();
    await window.keyboard.press('Tab');
    const form = window.getByRole('form', { name: '/order' });
    await form.getByText('How many, 9 at most').waitFor();
    const dish = form.getByLabel('dish');
    await dish.fill('lunch');
    await form.getByRole('option', { name: 'Ramen' }).waitFor();
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await window.keyboard.press(key);
    expect(await dish.inputValue(), 'people read the name').to.equal('Ramen');
    await form.getByLabel('count').fill('2');
    await form.getByLabel('guest').selectOption('@alice');
    await form.getByRole('button', { name: 'Send' }).click();
    await reads('Ordered: dish-2, 2, alice');
    await focusIn(box('kitchen'));
  });

  it('takes what was typed where no suggestion is chosen', async () => {
    await enter('pantry');
    await box('pantry').fill('/order');
    await window.getByRole('option', { name: /^\/order/ }).click();
    await window.getByRole('form').getByLabel('dish').fill('something else');
    await window.keyboard.press('Enter');
    await reads('Ordered: something else, null, undefined');
  });

  it('chooses from menus of every kind', async () => {
    const channel = await enter('menus');
    await textChannel(bot, channel.id).send(MENUS);
    await window.getByLabel('A colour').selectOption('green');
    await reads('one: green');
    await window.getByLabel('A colour').selectOption('blue');
    await reads('one: blue');
    const several = window.getByRole('group', { name: 'Colours' });
    await several.getByLabel('red').check();
    await several.getByLabel('blue').check();
    await several.getByRole('button', { name: 'Choose' }).click();
    await reads('two: red and blue');
    await window.getByLabel('A member').selectOption('@alice');
    await reads(`user: ${city.alice.id}`);
    await window.getByLabel('A channel').selectOption('#general');
    await reads(`channel: ${city.general.id}`);
  });

  it('fills in a form with menus, and says in the form what is wrong with it', async () => {
    const channel = await enter('surveys');
    const survey = { type: ComponentType.Button, style: 1, custom_id: 'survey', label: 'Take part' };
    await textChannel(bot, channel.id).send({ content: 'A survey', components: [menu(survey)] });
    await window.getByRole('button', { name: 'Take part' }).click();
    const dialog = window.getByRole('dialog', { name: 'Survey' });
    await dialog.getByLabel('Guest').selectOption('@alice');
    await dialog.getByRole('button', { name: 'Submit' }).click();
    await dialog.getByRole('alert').waitFor();
    const colours = dialog.getByRole('group', { name: 'Colours' });
    await colours.getByLabel('red').check();
    await colours.getByLabel('blue').check();
    await dialog.getByRole('button', { name: 'Submit' }).click();
    await reads('alice: red and blue');
    await dialog.waitFor({ state: 'hidden' });
  });

  it('offers every command of the bot after a /', async () => {
    await enter('commands');
    const more = Array.from({ length: 60 }, (_, index) => ({ name: `more-${index}`, description: 'One more' }));
    await bot.application.commands.set([...COMMANDS, ...more], city.guild.id);
    await box('commands').fill('/');
    await window.getByRole('option', { name: '/whisper' }).waitFor();
    const list = window.getByRole('listbox', { name: 'Suggestions' });
    expect(await list.getByRole('option').count()).to.equal(62);
    await bot.application.commands.set(COMMANDS, city.guild.id);
    await window.keyboard.press('Escape');
  });

  it('opens the command that was typed, even if Enter comes before the commands', async () => {
    const context = await browser.newContext();
    const hasty = await context.newPage();
    const held: (() => void)[] = [];
    await hasty.routeWebSocket(/local\/users/, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((message) => {
        if (String(message).includes('"commands":[')) held.push(() => socket.send(message));
        else socket.send(message);
      });
    });
    await hasty.goto(city.discord.clientAddress(city.you));
    await hasty.getByRole('textbox', { name: 'Message #general' }).fill('/whis');
    await hasty.keyboard.press('Enter');
    while (held.length === 0) await hasty.evaluate('new Promise(requestAnimationFrame)');
    for (const release of held) release();
    await hasty.getByRole('form', { name: '/whisper' }).waitFor();
    await context.close();
  });

  it('shows what a message is made of: lists, embeds in their colour, pictures among components, pins', async () => {
    const channel = await enter('looks');
    city.alice.say(channel, 'To do:\n- **one**\n  1. [two](https://example.com/two)\nafter');
    await messages().getByRole('listitem').getByText('one', { exact: true }).waitFor();
    await messages().getByRole('link', { name: 'two', exact: true }).waitFor();
    expect(await messages().locator('.list li').count()).to.equal(2);

    const picture = await window.screenshot();
    const files = [
      { name: 'view.png', attachment: picture },
      { name: 'notes.txt', attachment: Buffer.from('notes') },
    ];
    const [said] = channel.messages;
    if (said === undefined) throw new Error('nothing was said');
    await textChannel(bot, channel.id).send({ embeds: [{ color: 0x00ff80, title: 'Green' }] });
    const edge = `getComputedStyle(document.querySelector('.messages .embed')).borderLeftColor`;
    await window.getByText('Green', { exact: true }).waitFor();
    expect(await window.evaluate(edge)).to.equal('rgb(0, 255, 128)');

    const view = { media: { url: 'attachment://view.png' }, description: 'The view' };
    await textChannel(bot, channel.id).send({
      flags: MessageFlags.IsComponentsV2,
      files,
      components: [
        {
          type: ComponentType.Section,
          components: [{ type: ComponentType.TextDisplay, content: 'A section' }],
          accessory: { type: ComponentType.Thumbnail, ...view },
        },
        { type: ComponentType.MediaGallery, items: [view] },
        { type: ComponentType.File, file: { url: 'attachment://notes.txt' } },
      ],
    });
    await messages().getByRole('link', { name: 'notes.txt' }).waitFor();
    await until(IS_AT_END);
    expect(await messages().getByRole('img', { name: 'The view' }).count()).to.equal(2);
    expect(await messages().getByRole('img').count(), 'shown where the components say').to.equal(2);

    city.you.pin(said);
    await reads('you pinned a message to this channel.');
  });

  it('renders any text', async () => {
    const channel = await enter('hostile');
    const failures: Error[] = [];
    window.on('pageerror', (error) => failures.push(error));
    const texts = [
      '# '.repeat(900),
      '> # - '.repeat(300),
      '**_~~'.repeat(300),
      '||'.repeat(999),
      '[a]('.repeat(500),
      '[x](javascript:alert(1)) <img src=x onerror=alert(1)>',
      '<t:8640000000001:F> <t:99999999999999:R> <@&1> </a:1>',
      `\`\`\`\n${'c'.repeat(1_900)}\n\`\`\``,
      'a'.repeat(2_000),
      '\u202Eback\u202C',
    ];
    for (const text of texts) city.alice.say(channel, text);
    const stranger = city.discord.createUser({ name: 'stranger', displayName: 'W'.repeat(32) });
    city.guild.join(stranger);
    const embed = {
      title: 'T'.repeat(256),
      fields: [{ name: 'N'.repeat(256), value: 'V'.repeat(1_000), inline: true }],
    };
    await textChannel(bot, channel.id).send({ embeds: [embed] });
    city.you.say(channel, 'still here', { replyTo: stranger.say(channel, 'long names') });
    await reads('still here');
    expect(failures).to.deep.equal([]);
    const wide = `['.messages', 'aside', '.sidebar', '.me'].filter((part) => {
      const { scrollWidth, clientWidth } = document.querySelector(part);
      return scrollWidth > clientWidth;
    })`;
    expect(await window.evaluate(wide), 'goes beyond its edge').to.deep.equal([]);
    city.you.kick(city.guild, stranger);
  });

  it('finds one of thousands of members by name', async () => {
    await enter('crowd');
    const crowd = Array.from({ length: 2_000 }, (_, index) => city.discord.createUser({ name: `guest${index}` }));
    for (const person of crowd) city.guild.join(person);
    const members = window.getByRole('complementary', { name: 'Members' });
    await members.getByText('more: find them by name').waitFor();
    expect(await members.getByRole('listitem').count()).to.equal(100);
    await members.getByLabel('Find a member').fill('guest1999');
    await members.getByRole('button', { name: 'guest1999' }).click();
    await box('guest1999').waitFor();
    for (const person of crowd) city.you.kick(city.guild, person);
    await members.waitFor({ state: 'hidden' });
  });

  it('asks before it deletes, and lets moderators delete what others wrote', async () => {
    const channel = await enter('trash');
    city.alice.say(channel, 'rubbish');
    await messages().getByText('rubbish').hover();
    await messages().getByRole('button', { name: 'Delete', exact: true }).click();
    await messages().getByText('Delete this message?').waitFor();
    await window.keyboard.press('Escape');
    expect(channel.messages).to.have.lengthOf(1);
    await messages().getByRole('button', { name: 'Delete', exact: true }).click();
    await messages().getByRole('button', { name: 'Delete it' }).click();
    await messages().getByText('rubbish').waitFor({ state: 'detached' });
    expect(channel.messages).to.deep.equal([]);
    const hers = await visit({}, city.alice);
    await hers.getByRole('button', { name: '#trash' }).click();
    city.you.say(channel, 'not hers');
    await hers.getByRole('listitem').getByText('not hers').hover();
    expect(await hers.getByRole('button', { name: 'Delete', exact: true }).count()).to.equal(0);
    await hers.context().close();
  });

  it('reads aloud what comes, and not a whole channel that is opened', async () => {
    const loud = city.guild.createChannel({ name: 'loud' });
    for (let number = 0; number < 5; number++) city.alice.say(loud, `message ${number}`);
    await enter('silent');
    await window.evaluate(`
      window.readAloud = [];
      new MutationObserver((changes) => {
        window.readAloud = changes.filter(({ target }) => target.matches('[aria-live]')).flatMap(({ addedNodes }) => [...addedNodes]);
      }).observe(document.querySelector('.messages'), { childList: true, subtree: true });
    `);
    await window.getByRole('button', { name: '#loud 5 unread' }).click();
    await reads('message 4');
    expect(await window.evaluate('window.readAloud.length'), 'put into a list that was there').to.equal(0);
    city.alice.say(loud, 'something new');
    await reads('something new');
    expect(await window.evaluate('window.readAloud.length')).to.equal(1);
  });

  it('reacts with any emoji', async () => {
    const channel = await enter('emoji');
    const message = city.alice.say(channel, 'A flag?');
    await messages().getByText('A flag?').hover();
    await messages().getByRole('button', { name: 'React', exact: true }).click();
    await messages().getByLabel('Another emoji').fill('🏳️‍🌈');
    await window.keyboard.press('Enter');
    await messages().getByRole('button', { name: '🏳️‍🌈, 1' }).waitFor();
    expect(message.reactedBy('🏳️‍🌈')).to.deep.equal([city.you]);
  });

  it('marks what is new, and what the member has read in another window', async () => {
    const news = city.guild.createChannel({ name: 'news' });
    city.alice.say(news, 'old');
    await window.getByRole('button', { name: '#news 1 unread' }).click();
    await reads('old');
    await enter('meanwhile');
    city.alice.say(news, 'fresh');
    const other = await visit();
    await other.getByRole('button', { name: '#news 1 unread' }).waitFor();
    await window.getByRole('button', { name: '#news 1 unread' }).click();
    await reads('fresh');
    const lines = await messages().locator('ol > li').allInnerTexts();
    expect(lines.indexOf('New')).to.equal(1);
    await other.getByRole('button', { name: '#news', exact: true }).waitFor();
    await other.context().close();
  });

  it('goes through a menu by keyboard without choosing on the way', async () => {
    const channel = await enter('arrows');
    await textChannel(bot, channel.id).send(MENUS);
    await window.getByLabel('A colour').focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await window.keyboard.press(key);
    await reads(/^one:/);
    await city.discord.settled();
    const chosen = channel.messages.map(({ content }) => content).filter((content) => content.startsWith('one'));
    expect(chosen).to.have.lengthOf(1);
  });

  it('sends a picture, and shows it whole at the end of the channel', async () => {
    const channel = await enter('pictures');
    for (let number = 0; number < 30; number++) city.alice.say(channel, `message ${number}`);
    const picture = await window.screenshot();
    await window.getByLabel('Attach files').setInputFiles([
      { name: 'view.png', mimeType: 'image/png', buffer: picture },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('notes') },
    ]);
    await window.getByText('view.png, notes.txt').waitFor();
    await box('pictures').fill('Look!');
    await window.keyboard.press('Enter');
    await window.getByRole('img', { name: 'view.png' }).waitFor();
    await window.getByRole('link', { name: 'notes.txt' }).waitFor();
    city.alice.say(channel, 'And this', { files: [{ name: 'hers.png', data: picture, contentType: 'image/png' }] });
    await window.getByRole('img', { name: 'hers.png' }).waitFor();
    await until(IS_AT_END);
    expect(channel.messages.at(-2)?.attachments.map(({ filename }) => filename)).to.deep.equal([
      'view.png',
      'notes.txt',
    ]);
  });

  it('refuses a file that Discord would not take, and keeps what was written', async () => {
    const channel = await enter('uploads');
    const buffer = Buffer.alloc(10 * 1024 * 1024 + 1);
    await window.getByLabel('Attach files').setInputFiles([{ name: 'film.mp4', mimeType: 'video/mp4', buffer }]);
    await window.getByRole('alert').getByText('film.mp4 is larger than 10 MiB').waitFor();
    await box('uploads').fill('The film');
    await window.keyboard.press('Enter');
    await reads('The film');
    expect(channel.messages.at(-1)?.attachments).to.deep.equal([]);
  });

  it('starts a thread, talks in it, and finds it under its message and its channel', async () => {
    const channel = await enter('topics');
    city.alice.say(channel, 'Where do we eat?');
    await messages().getByText('Where do we eat?').hover();
    await messages().getByRole('button', { name: 'Thread' }).click();
    await window.keyboard.type('Dinner');
    await window.keyboard.press('Enter');
    await box('Dinner').waitFor();
    await window.keyboard.type('Here');
    await window.keyboard.press('Enter');
    await reads('Here');
    await window.getByRole('button', { name: '#topics' }).click();
    await window.getByRole('button', { name: 'Thread: Dinner' }).click();
    await reads('Here');
    const [thread] = [...city.guild.threads.values()].filter(({ name }) => name === 'Dinner');
    expect(thread?.messages.map(({ content }) => content)).to.include('Here');
  });

  it('writes to a member, and receives direct messages', async () => {
    await enter('letters');
    const members = window.getByRole('complementary', { name: 'Members' });
    await members.getByRole('button', { name: /alice/ }).click();
    await box('alice').fill('psst');
    await window.keyboard.press('Enter');
    await reads('psst');
    await window.getByRole('button', { name: '#letters' }).click();
    city.alice.say(city.alice.openDm(city.you), 'yes?');
    await window.getByRole('button', { name: '@alice 1 unread' }).click();
    await reads('yes?');
    await window.getByRole('button', { name: '@alice', exact: true }).waitFor();
    city.app.user.say(city.app.user.openDm(city.you), 'From the bot');
    await window.getByRole('button', { name: '@Cinnabar 1 unread' }).click();
    await reads('From the bot');
  });

  it('completes mentions of members and channels', async () => {
    const channel = await enter('calls');
    await box('calls').pressSequentially('Ask @al');
    await window.getByRole('option', { name: '@alice' }).waitFor();
    await window.keyboard.press('Tab');
    await window.keyboard.type('in #gen');
    await window.getByRole('option', { name: '#general' }).click();
    expect(await box('calls').inputValue()).to.equal('Ask @alice in #general ');
    await window.keyboard.press('Enter');
    await window.getByRole('button', { name: '#general' }).last().waitFor();
    const said = channel.messages.at(-1);
    expect(said?.content).to.equal(`Ask <@${city.alice.id}> in <#${city.general.id}>`);
    expect(said?.mentions.users).to.deep.equal([city.alice]);
  });

  it('counts what is unread, in the title too, until it is read or gone', async () => {
    await enter('here');
    const elsewhere = city.guild.createChannel({ name: 'elsewhere' });
    const first = city.alice.say(elsewhere, 'one');
    city.alice.say(elsewhere, 'two');
    const unread = (count: number) => window.getByRole('button', { name: `#elsewhere ${count} unread` });
    await unread(2).waitFor();
    await until(`document.title === '(2) here'`);
    city.alice.delete(first);
    await unread(1).waitFor();
    await unread(1).click();
    await window.getByRole('button', { name: '#elsewhere', exact: true }).waitFor();
    await window.reload();
    await window.getByRole('button', { name: '#elsewhere', exact: true }).waitFor();
    expect(await window.title()).not.to.include('(');
  });

  it('shows an ephemeral message only to its recipient', async () => {
    await enter('whispers');
    const hers = await visit({}, city.alice);
    await hers.getByRole('button', { name: '#whispers' }).click();
    await box('whispers').fill('/whisper');
    await window.getByRole('option', { name: /^\/whisper/ }).click();
    await window.getByRole('button', { name: 'Send' }).click();
    await reads('A secret');
    await reads('Only you can see this.');
    await box('whispers').fill('Did you hear that?');
    await window.keyboard.press('Enter');
    await reads('Did you hear that?', hers);
    expect(await hers.getByText('A secret').count()).to.equal(0);
    await hers.context().close();
  });

  it('shows who is typing to the others in the channel, until they have sent it', async () => {
    const channel = await enter('typing');
    const hers = await visit({}, city.alice);
    await hers.getByRole('button', { name: '#typing' }).click();
    await hers.getByRole('textbox', { name: 'Message #typing' }).fill('Wait for it');
    await window.getByText('alice is typing …').waitFor();
    const carol = city.discord.createUser({ name: 'carol' });
    city.guild.join(carol);
    carol.typing(channel);
    await window.getByText('alice, carol are typing …').waitFor();
    await hers.getByText('carol is typing …').waitFor();
    await hers.keyboard.press('Enter');
    await reads('Wait for it');
    await window.getByText('carol is typing …').waitFor();
    await hers.context().close();
  });

  it('is another member after a choice in the menu, with what they may see, and in a second window', async () => {
    const hidden = { for: city.alice, deny: ['ViewChannel'] } as const;
    city.guild.createChannel({ name: 'not-for-alice', overwrites: [hidden] });
    const other = await visit();
    const menu = other.getByRole('combobox', { name: 'You are' });
    await other.getByRole('button', { name: '#not-for-alice' }).waitFor();
    await menu.selectOption({ label: 'alice' });
    await other.getByRole('button', { name: '#not-for-alice' }).waitFor({ state: 'detached' });
    await other.getByRole('textbox', { name: 'Message #general' }).fill('It is me');
    await other.keyboard.press('Enter');
    await reads('It is me', other);
    expect(city.general.messages.at(-1)?.author.id).to.equal(city.alice.id);
    const [second] = await Promise.all([
      other.context().waitForEvent('page'),
      other.getByRole('link', { name: /^Second window, as / }).click(),
    ]);
    await second.getByRole('combobox', { name: 'You are' }).waitFor();
    const whose = 'document.querySelector("select").selectedOptions[0].textContent';
    expect(await second.evaluate(whose)).not.to.equal('alice');
    expect(await other.evaluate(whose)).to.equal('alice');
    await other.context().close();
  });

  it('moves the clock', async () => {
    const time = window.getByRole('group', { name: /^Clock/ }).getByRole('time');
    const before = clock.now();
    const shown = await time.textContent();
    await window.getByRole('button', { name: 'Move the clock by 1 h' }).click();
    await time.filter({ hasNotText: shown?.slice(0, 2) ?? '' }).waitFor();
    expect(clock.now() - before).to.equal(HOUR_MS);
  });

  it('keeps what was written for each channel, and does not send an edit elsewhere', async () => {
    const notes = await enter('notes');
    const mine = city.you.say(notes, 'helo');
    await box('notes').fill('a draft');
    await window.keyboard.press('Escape');
    expect(await box('notes').inputValue()).to.equal('a draft');
    await enter('other');
    expect(await box('other').inputValue()).to.equal('');
    await window.getByRole('button', { name: '#notes' }).click();
    expect(await box('notes').inputValue()).to.equal('a draft');
    await messages().getByText('helo').hover();
    await messages().getByRole('button', { name: 'Edit' }).click();
    expect(await box('notes').inputValue()).to.equal('helo');
    await window.getByRole('button', { name: '#other' }).click();
    expect(await box('other').inputValue()).to.equal('');
    await window.getByRole('button', { name: '#notes' }).click();
    expect(await box('notes').inputValue(), 'the edit was left').to.equal('a draft');
    expect(mine.content).to.equal('helo');
  });

  it('can be used without a mouse', async () => {
    const channel = await enter('keys');
    await textChannel(bot, channel.id).send({ ...MENUS, content: 'Press a key' });
    await reads('Press a key');
    const press = async (...keys: readonly string[]) => {
      for (const key of keys) await window.keyboard.press(key);
    };
    const button = (name: string) => window.getByRole('button', { name, exact: true });

    await window.getByRole('button', { name: 'Write' }).focus();
    await press('Enter');
    await window.getByRole('dialog', { name: 'Guest book' }).waitFor();
    await window.keyboard.type('Nova');
    await press('Enter');
    await reads('Written: Nova');

    await window.getByRole('button', { name: 'React', exact: true }).first().focus();
    await press('Enter');
    await focusIn(button('React with 👍'));
    await press('Escape');
    await focusIn(button('React').first());
    await press('Enter', 'Enter');
    await window.getByRole('button', { name: '👍, 1' }).waitFor();

    await window.getByRole('button', { name: 'Thread', exact: true }).first().focus();
    await press('Enter');
    await focusIn(window.getByLabel('Name of the thread'));
    await press('Escape');
    await focusIn(button('Thread').first());

    await box('keys').focus();
    await window.keyboard.type('/whis');
    await window.getByRole('option', { name: /^\/whisper/ }).waitFor();
    await press('Enter', 'Enter');
    await reads('A secret');
    await focusIn(box('keys'));

    await window.keyboard.type('mistkae');
    await press('Enter');
    await reads('mistkae');
    await box('keys').and(window.locator(':placeholder-shown')).waitFor();
    await press('ArrowUp');
    expect(await box('keys').inputValue()).to.equal('mistkae');
    await press('ControlOrMeta+a');
    await window.keyboard.type('mistake');
    await press('Enter');
    await reads('mistake');
    expect(channel.messages.at(-1)?.content).to.equal('mistake');
  });

  it('speaks German where the browser asks for it, and English to others', async () => {
    const german = await (await browser.newContext({ locale: 'de-AT' })).newPage();
    await german.goto(city.discord.clientAddress(city.you));
    await german.getByRole('textbox', { name: 'Nachricht an #general' }).fill('Hallo');
    await german.getByRole('button', { name: 'Senden' }).click();
    await german.getByRole('listitem').getByText('Hallo').hover();
    await german.getByRole('button', { name: 'Antworten' }).last().click();
    await german.getByText('Antwort an you').waitFor();
    await german.evaluate(`location.hash = location.hash.replace(/as=.*/, 'as=1')`);
    await german.getByText('Diese Adresse gilt nicht mehr.').waitFor();
    expect(await german.locator('html').getAttribute('lang')).to.equal('de');
    await german.context().close();
    const french = await visit({ locale: 'fr' });
    expect(await french.locator('html').getAttribute('lang'), 'the language that is spoken').to.equal('en');
    await french.context().close();
  });

  it('opens where the browser is slower than the server', async () => {
    const context = await browser.newContext();
    // Effects run long after the guild has arrived.
    await context.addInitScript(LATE_EFFECTS);
    const slow = await context.newPage();
    await slow.goto(city.discord.clientAddress(city.you));
    await slow.getByRole('textbox', { name: 'Message #general' }).waitFor();
    await context.close();
  });

  it('has nothing that keeps people out, dark, light and on a phone, whatever is open', async () => {
    const channel = city.guild.createChannel({ name: 'everything' });
    await city.discord.settled();
    await textChannel(bot, channel.id).send({
      ...MENUS,
      content: `# Heading\n<@${city.you.id}> in <#${city.general.id}>: [link](https://example.com), ||spoiler||, \`code\`\n\`\`\`\nblock\n\`\`\``,
      embeds: [{ title: 'An embed', description: 'With words', footer: { text: 'and a foot' } }],
    });
    const own = city.you.say(channel, 'Mine', { files: [{ name: 'notes.txt', data: Buffer.from('notes') }] });
    city.alice.react(own, '👍');
    city.alice.startThread(own, 'A thread');
    city.alice.say(city.general, 'unread');
    const views = { desk: {}, phone: { viewport: { width: 390, height: 780 } } };
    const problems: Record<string, readonly string[]> = {};
    for (const [name, view] of Object.entries(views)) {
      const opened = await visit(view);
      const look = async (what: string) => {
        const found = await accessibilityProblems(opened);
        if (found.length > 0) problems[`${name}, ${what}`] = found;
      };
      if (name === 'phone') {
        await opened.getByRole('button', { name: 'Channels' }).click();
        await look('the list of channels');
        await opened.getByRole('navigation').locator(':focus').waitFor();
        await opened.keyboard.press('Escape');
        await opened.getByRole('navigation').waitFor({ state: 'hidden' });
        await opened.getByRole('button', { name: 'Members' }).click();
        await look('the members');
        await opened.keyboard.press('Escape');
        await opened.getByRole('button', { name: 'Channels' }).click();
      }
      await opened.getByRole('button', { name: '#everything' }).click();
      await opened.getByText('Mine').hover();
      await opened.getByRole('button', { name: 'React', exact: true }).last().click();
      await look('messages');
      const field = opened.getByRole('textbox', { name: 'Message #everything' });
      await field.fill('/');
      await opened.getByRole('option', { name: /^\/order/ }).waitFor();
      await look('suggestions');
      await opened.getByRole('option', { name: /^\/order/ }).click();
      await opened.getByRole('form').getByRole('option', { name: 'Ramen' }).waitFor();
      await look('a command');
      await opened.keyboard.press('Escape');
      await opened.keyboard.press('Escape');
      await opened.getByRole('button', { name: 'Write' }).click();
      await opened.getByRole('dialog').waitFor();
      await look('a form');
      const isWide = await opened.evaluate('document.documentElement.scrollWidth > innerWidth');
      expect(isWide, `${name}: nothing stands beside the screen`).to.equal(false);
      await opened.context().close();
    }
    expect(problems).to.deep.equal({});
  });
});
