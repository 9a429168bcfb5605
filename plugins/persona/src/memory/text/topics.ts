import { termOf } from './words.js';

/** Everyday words by what they are about, so that "What does Anna do for a living?" finds "long shift again, the life of a nurse". */
const TOPICS: Readonly<Record<string, string>> = {
  home: 'live living lived home house flat apartment room rent landlord move moved moving neighbour neighbourhood address city town village reside settle based roommate',
  work: 'work job profession occupation career employer employed hired fired boss colleague office shift salary wage earn pays bills freelance company business retired intern',
  family:
    'sister brother sibling mother father mum mom dad parent son daughter child kid baby twin aunt uncle cousin niece nephew grandma grandpa grandmother grandfather family relative',
  love: 'partner husband wife girlfriend boyfriend fiancé fiancée married wedding engaged divorced dating spouse relationship crush',
  animal: 'pet cat kitten dog puppy rabbit hamster horse parrot bird fish tortoise animal vet',
  food: 'food eat ate dish meal cook cooking dinner lunch breakfast recipe bake baking taste hungry restaurant snack dessert cuisine vegetarian vegan',
  drink: 'drink beverage coffee tea café cafe espresso latte juice beer wine cocktail thirsty brew',
  health:
    'allergy allergic allergies reaction doctor hospital illness ill sick disease diagnosed medicine medication pill injector injury broke swell asthma diabetes surgery therapy',
  fear: 'fear afraid scared scare scares terrified phobia panic nightmare frightened anxious dread',
  travel:
    'travel travelling trip holiday vacation fly flying flight tickets journey abroad visit country tour booked airport luggage',
  vehicle: 'car drive drives driving vehicle motorway bike bicycle motorcycle truck van engine garage parking',
  music:
    'music instrument play plays playing practise practising practice band song concert sing singing choir orchestra melody lessons',
  sport:
    'sport sports football soccer tennis run running marathon gym training train swim swimming climb climbing team match league hiking yoga fitness',
  reading: 'book read reading novel author library chapter story poem poetry',
  screen: 'film movie series show watch watching cinema episode actor director season stream',
  game: 'game games gaming gamer console player level quest chess board dungeon',
  language:
    'language speak speaks speaking learn learning grammar vocabulary fluent accent dialect translate class classes course study studying',
  school:
    'school university college student study studying degree exam teacher major course thesis semester graduate graduated lecture',
  computer:
    'computer operating system distro os linux install installed laptop pc software editor terminal programming code coding developer desktop boot runs user switched',
  money: 'money save saving savings debt loan rich poor budget spend buy bought price sold invest bank tax',
  sleep: 'sleep sleeping slept bed awake tired insomnia nap dream wake woke alarm night',
  birth: 'birthday born birth celebrate age old older cake present gift turned',
  belief: 'religion church pray faith belief atheist buddhist christian muslim jewish temple vote politics party',
  style: 'clothes wear wears wearing dress shirt jacket hat hair haircut glasses fashion colour color',
};

const BY_TERM: ReadonlyMap<string, readonly string[]> = byTerm();

/** Marks that stand for the topics of these terms; no word looks like one. */
export function topicsOf(terms: Iterable<string>): readonly string[] {
  return [...new Set([...terms].flatMap((term) => BY_TERM.get(term) ?? []))];
}

function byTerm(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [topic, words] of Object.entries(TOPICS)) {
    for (const term of new Set(words.split(' ').map(termOf))) {
      found.set(term, [...(found.get(term) ?? []), `#${topic}`]);
    }
  }
  return found;
}
