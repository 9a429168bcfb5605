import type { Chance } from './chance.js';
import { CITIES, FOODS, NOUNS } from './themes.js';

/** Small talk that also contains the words of facts: `{c}` a city, `{f}` a dish, `{t}` a thing, `{n}` a name. */
const LINES: readonly string[] = [
  'good morning everyone',
  'lol',
  'brb, lunch',
  'that is hilarious {n}',
  '{n}, are you around tonight?',
  'thanks {n}, that helped',
  'has anyone been to {c} lately?',
  'the weather in {c} must be awful right now',
  'there was something about {c} in the news',
  'a friend from {c} sent me this',
  'who wants {f} tonight?',
  'the {f} place around the corner closed down',
  'somebody burnt the {f} again',
  'is {f} even a proper meal?',
  'my {t} stopped working this morning',
  'does anyone know how to repair a {t}?',
  'I spent all weekend on that {t}',
  'new {t} arrived, it is huge',
  'what do you all think of the new {t}?',
  'I have to work late today',
  'what a day at work',
  'the train was late again',
  'we should meet in {c} some time',
  'I saw a documentary about people who live on boats',
  'do you like living alone?',
  'what is the name of that film with the cat?',
  'which city has the best museums?',
  'where does everybody go on holiday these days?',
  'which operating system boots the fastest?',
  'learning languages as an adult is hard',
  'somebody in the building plays music at night',
  'cats are better than dogs, change my mind',
  'I love this channel',
  'what car should one buy these days?',
  'when does the meeting start?',
  'birthday parties are overrated',
  'I think {n} is right about that',
  '{n} said the same thing yesterday',
  'ask {n}, they know more about it',
  'did you see what {n} posted?',
  'happy birthday {n}!',
  'my favourite season is whatever comes next',
  'no idea what to cook, maybe {f}',
  'my sister thinks this is silly',
  'the neighbours have a new car',
  'allergies are bad this year for everybody',
  'spiders in the basement, again',
  'I need coffee',
  'can somebody review the {t} before Friday?',
  'the {t} prices in {c} are ridiculous',
  'I once got lost in {c} with a broken {t}',
  'my flight got cancelled, typical',
  'we talked about {f} for an hour',
  'yes, exactly',
  'not sure about that',
  'haha same',
  'ok see you later',
  'I read that people in {c} eat {f} for breakfast',
  'how do you pronounce {c}?',
  'music at work: yes or no?',
];

/** One line; lines are often repeated, as in real channels. */
export function chatterLine(chance: Chance, name: string): string {
  return chance
    .pick(LINES)
    .replaceAll('{n}', name)
    .replaceAll('{c}', () => chance.pick(CITIES))
    .replaceAll('{f}', () => chance.pick(FOODS))
    .replaceAll('{t}', () => chance.pick(NOUNS));
}
