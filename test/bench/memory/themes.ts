/**
 * Statements of people about themselves and about each other, and questions about them. Questions and statements are paraphrases that often have no word in
 * common. `{v}` is the value, `{n}` the name.
 */
export interface Theme {
  readonly key: string;
  readonly values: readonly string[];
  /** In the first person. */
  readonly own: readonly string[];
  /** Statements by another person. */
  readonly others: readonly string[];
  /** Questions about another person. */
  readonly asked: readonly string[];
  /** Questions by the person themselves. */
  readonly askedOwn: readonly string[];
  /** Set if the memory's own list of topics does not cover the theme. */
  readonly unforeseen?: true;
}

const list = (text: string) => text.split(',').map((each) => each.trim());

export const CITIES = list(
  'Bonn, Berlin, Oslo, Rome, Lisbon, Utrecht, Graz, Porto, Leeds, Malmö, Krakow, Ghent, Turin, Bergen',
);
export const FOODS = list(
  'pizza, ramen, lasagne, curry, sushi, goulash, tacos, pancakes, falafel, dumplings, risotto, bibimbap',
);
export const NOUNS = list(
  'router, garden, bike, kitchen, podcast, spreadsheet, printer, balcony, guitar, camera, keyboard, server, laptop, oven',
);

export const THEMES: readonly Theme[] = [
  {
    key: 'home',
    values: CITIES,
    own: [
      'I live in {v} these days',
      'finally moved to {v}, boxes everywhere',
      'our flat here in {v} has a leaking roof',
      '{v} is home for me now',
    ],
    others: ['{n} lives in {v} as far as I know', 'I heard {n} moved to {v}', '{n} has a flat in {v} now'],
    asked: ['Where does {n} live?', 'Which city is {n} based in?', "What town is {n}'s apartment in?"],
    askedOwn: ['where do I live again?', 'do you remember which city I am in?'],
  },
  {
    key: 'job',
    values: list(
      'nurse, baker, carpenter, translator, plumber, geologist, librarian, pilot, florist, welder, teacher, dentist',
    ),
    own: [
      'I work as a {v}',
      'being a {v} pays the bills',
      'started as a {v} on Monday',
      'long shift again, the life of a {v}',
    ],
    others: ['{n} works as a {v}', '{n} is a {v} now, believe it or not', 'apparently {n} got hired as a {v}'],
    asked: ['What does {n} do for a living?', "What is {n}'s profession?", 'How does {n} earn money?'],
    askedOwn: ['what is my job?', 'can you tell what I do for a living?'],
  },
  {
    key: 'birthday',
    values: list(
      '3 March, 17 June, 21 May, 9 October, 30 January, 12 August, 4 December, 26 July, 15 April, 8 November',
    ),
    own: ['my birthday is on {v}', 'I was born on {v}', 'cake for everyone on {v}, I am getting older'],
    others: [
      "{n}'s birthday is on {v}",
      '{n} was born on {v}',
      'we need a present for {n} before {v}, another year older',
    ],
    asked: ["When is {n}'s birthday?", 'On what day was {n} born?', 'When do we celebrate {n}?'],
    askedOwn: ['when is my birthday?', 'what day was I born?'],
  },
  {
    key: 'pet',
    values: list('Minka, Bruno, Pebbles, Waffles, Socks, Captain, Nori, Biscuit, Pixel, Tofu, Ziggy, Momo'),
    own: ['my cat is called {v}', "my cat's name is {v}", '{v}, my cat, sleeps on the keyboard again'],
    others: ["{n}'s cat is called {v}", '{n} got a cat and named it {v}', '{n} has this fluffy cat, {v}'],
    asked: ["What is {n}'s cat called?", "What is the name of {n}'s pet?", 'Which name did {n} give the kitten?'],
    askedOwn: ["what's my cat's name?", 'what is my pet called?'],
  },
  {
    key: 'food',
    values: FOODS,
    own: [
      'my favourite food is {v}',
      'nothing beats {v} for me',
      'I could eat {v} every single day',
      '{v} is the best dish there is',
    ],
    others: ["{n}'s favourite food is {v}", '{n} could eat {v} every day', '{n} orders {v} wherever we go'],
    asked: ["What is {n}'s favourite food?", 'What dish does {n} like best?', 'What should I cook for {n}?'],
    askedOwn: ['what is my favourite food?', 'which meal do I love most?'],
  },
  {
    key: 'allergy',
    values: list('peanuts, pollen, cats, shellfish, penicillin, strawberries, bee stings, latex, soy, walnuts'),
    own: [
      "I'm allergic to {v}",
      '{v} make my throat swell, I have to carry an injector',
      'ended up in hospital because of {v} once, reaction was bad',
    ],
    others: ['{n} is allergic to {v}', 'careful, {n} cannot go near {v}, allergy', '{n} had a bad reaction to {v}'],
    asked: ['What is {n} allergic to?', 'Which allergy does {n} have?', 'What must we keep away from {n}?'],
    askedOwn: ['what am I allergic to?', 'which allergy do I have?'],
  },
  {
    key: 'instrument',
    values: list('cello, banjo, drums, trumpet, piano, violin, accordion, harp, flute, ukulele'),
    own: ['I play the {v}', 'took up the {v} last winter', 'practising {v} until the neighbours complain'],
    others: ['{n} plays the {v}', '{n} practises {v} every evening', '{n} took {v} lessons'],
    asked: ['Which instrument does {n} play?', 'What music does {n} make?', 'What is {n} learning to play?'],
    askedOwn: ['which instrument do I play?', 'what did I say I was practising?'],
  },
  {
    key: 'car',
    values: list('Volvo, Fiat, Skoda, Tesla, Jeep, Saab, Mazda, Beetle, Subaru, Renault'),
    own: ['I drive an old {v}', 'bought a {v} yesterday', 'my {v} broke down on the motorway'],
    others: ['{n} drives a {v}', '{n} bought a {v}', 'saw {n} in a {v}'],
    asked: [
      'What car does {n} drive?',
      'Which vehicle does {n} own?',
      'What does {n} come by when it rains, what brand?',
    ],
    askedOwn: ['what car do I have?', 'which vehicle did I buy?'],
  },
  {
    key: 'language',
    values: list('Finnish, Basque, Korean, Swahili, Welsh, Arabic, Greek, Hungarian, Tagalog, Icelandic'),
    own: [
      "I'm learning {v} at the moment",
      '{v} grammar is killing me',
      'evening classes in {v} start tomorrow, wish me luck',
    ],
    others: ['{n} is learning {v}', '{n} takes evening classes in {v}', '{n} speaks some {v} by now'],
    asked: [
      'Which language is {n} learning?',
      'What language class does {n} take?',
      'What is {n} studying in the evenings?',
    ],
    askedOwn: ['which language am I learning?', 'what language did I say I study?'],
  },
  {
    key: 'fear',
    values: list('spiders, heights, thunder, clowns, deep water, needles, lifts, moths, crowds, dolls'),
    own: ["I'm terrified of {v}", '{v} give me nightmares', 'could never handle {v}, I panic'],
    others: ['{n} is terrified of {v}', '{n} panics because of {v}', '{n} screams when it comes to {v}'],
    asked: ['What is {n} afraid of?', 'What scares {n}?', 'Which phobia does {n} have?'],
    askedOwn: ['what am I afraid of?', 'what did I say scares me, do I have a phobia?'],
  },
  {
    key: 'system',
    values: list('Debian, Fedora, Arch, Ubuntu, NixOS, Gentoo, FreeBSD, Windows, macOS, Slackware'),
    own: ['I run {v} on everything', 'switched to {v} over the weekend', '{v} user here, no regrets'],
    others: ['{n} runs {v}', '{n} switched to {v}', '{n} swears by {v}'],
    asked: ['Which operating system does {n} use?', 'What distro is {n} on?', "What is installed on {n}'s computer?"],
    askedOwn: ['which operating system do I use?', 'what distro am I on?'],
  },
  {
    key: 'sister',
    values: list('Clara, Petra, Sofia, Ingrid, Yuki, Leila, Nadia, Olga, Freya, Paula'),
    own: [
      'my sister is called {v}',
      '{v} is visiting, haven’t seen my sister in ages',
      'my little sister {v} passed her exam',
    ],
    others: ["{n}'s sister is called {v}", "{n}'s sister {v} is in town", '{n} has a sister, {v}'],
    asked: ["What is the name of {n}'s sister?", "Who is {n}'s sister?", 'Which siblings does {n} have?'],
    askedOwn: ["what's my sister's name?", 'do I have siblings, and who?'],
  },
  {
    key: 'trip',
    values: list('Iceland, Japan, Peru, Morocco, Scotland, Vietnam, Canada, Georgia, Kenya, Chile'),
    own: ['flying to {v} in summer', 'booked tickets to {v}!', 'holiday plans: three weeks of {v}'],
    others: ['{n} is flying to {v} in summer', '{n} booked tickets to {v}', '{n} will spend three weeks in {v}'],
    asked: ['Where does {n} go on holiday?', 'What are {n}’s vacation plans?', 'Which country is {n} travelling to?'],
    askedOwn: ['where am I going on vacation?', 'which country am I travelling to?'],
  },
  {
    key: 'drink',
    values: list('espresso, oat latte, green tea, mate, cocoa, flat white, chai, lemonade, kombucha, black coffee'),
    own: ['cannot start a day without {v}', 'my usual at the café is {v}', '{v} is what keeps me awake'],
    others: ['{n} always orders {v}', '{n} cannot start the day without {v}', '{n} lives on {v}'],
    asked: ['What does {n} drink?', 'What is {n}’s usual order at the café?', 'Which beverage should I get {n}?'],
    askedOwn: ['what is my usual drink?', 'what do I drink in the morning?'],
  },
  {
    key: 'tattoo',
    unforeseen: true,
    values: list('raven, anchor, compass, dragon, rose, swallow, lighthouse, octopus, wolf, sundial'),
    own: [
      'got a {v} inked on my arm',
      'my new tattoo is a {v}',
      'three hours under the needle for a {v} on the shoulder',
    ],
    others: ['{n} has a {v} tattooed on the back', '{n} got a {v} inked', "that {v} on {n}'s arm looks great"],
    asked: ['What tattoo does {n} have?', 'Which body art does {n} wear?', "What is on {n}'s skin?"],
    askedOwn: ['what is my tattoo?', 'what did I get inked?'],
  },
  {
    key: 'shoes',
    unforeseen: true,
    values: list('36, 37, 38, 39, 40, 41, 42, 43, 44, 45'),
    own: ['I take size {v} in boots', 'nobody ever has {v} in stock when I want sneakers', '{v} is my shoe size'],
    others: ['{n} wears size {v} shoes', '{n} takes {v} in boots', '{n} borrowed my sneakers, {v} fits'],
    asked: ["What is {n}'s shoe size?", 'How big are the feet of {n}?', 'Which size of sneakers fits {n}?'],
    askedOwn: ['what is my shoe size?', 'which size do I take?'],
  },
  {
    key: 'nickname',
    unforeseen: true,
    values: list('Goose, Sparky, Moose, Peanut, Turbo, Snow, Duke, Flash, Dizzy, Bear'),
    own: [
      'people at the pub call me {v}',
      'back in school everybody knew me as {v}',
      '{v} is what my grandma calls me',
    ],
    others: ['everybody at the pub calls {n} {v}', '{n} was known as {v} in school', '{n} signs with {v}'],
    asked: ["What is {n}'s nickname?", 'What do people call {n}?', 'Under which other name is {n} known?'],
    askedOwn: ['what is my nickname?', 'what do people call me at the pub, what was I known as?'],
  },
  {
    key: 'collection',
    unforeseen: true,
    values: list('stamps, coins, snow globes, vinyl, fossils, teapots, postcards, badges, minerals, typewriters'),
    own: ['I collect {v}', 'a whole shelf full of {v} by now', 'found three more {v} at the flea market'],
    others: ['{n} collects {v}', '{n} has a shelf full of {v}', '{n} came back from the flea market with {v}'],
    asked: ['What does {n} collect?', 'What does {n} hoard?', "What is on {n}'s shelf?"],
    askedOwn: ['what do I collect?', 'what did I find at the flea market?'],
  },
  {
    key: 'volunteering',
    unforeseen: true,
    values: list('animal shelter, soup kitchen, fire brigade, food bank, repair café, sea rescue, hospice, scout camp'),
    own: ['I volunteer at the {v}', 'Saturdays are for the {v}, unpaid but worth it', 'helping out at the {v} again'],
    others: ['{n} volunteers at the {v}', '{n} helps out at the {v}', 'the {v} could not do without {n}'],
    asked: ['Where does {n} volunteer?', 'Where does {n} help out for free?', 'Which charity does {n} support?'],
    askedOwn: ['where do I volunteer?', 'where did I say I help out?'],
  },
];
