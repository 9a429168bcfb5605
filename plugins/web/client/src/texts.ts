/** The client's own words; those of pages come from the server in the person's language. */
const GERMAN: Readonly<Record<string, string>> = {
  'Skip to the page': 'Zur Seite springen',
  Servers: 'Server',
  'The bot': 'Der Bot',
  Server: 'Server',
  Agents: 'Agenten',
  Operation: 'Betrieb',
  Overview: 'Übersicht',
  'Sign out': 'Abmelden',
  'Sign in': 'Anmelden',
  'Sign in with Discord': 'Mit Discord anmelden',
  'Choose a server': 'Wähle einen Server',
  'Nothing here is yours to see. In a server where the bot is, its admins decide what you may do.':
    'Hier gibt es nichts für dich zu sehen. Auf einem Server, auf dem der Bot ist, entscheiden dessen Admins, was du darfst.',
  'You need a link to sign in. The owner of the bot gets one with the command `!web link`.':
    'Zum Anmelden brauchst du einen Link. Der Eigentümer des Bots bekommt einen mit dem Befehl `!web link`.',
  'Or by a link: the owner of the bot gets one with the command `!web link`.':
    'Oder mit einem Link: der Eigentümer des Bots bekommt einen mit dem Befehl `!web link`.',
  'Loading …': 'Lädt …',
  'The bot cannot be reached. Trying again …': 'Der Bot ist nicht zu erreichen. Neuer Versuch …',
  'Try again': 'Noch einmal',
  Cancel: 'Abbrechen',
  'Go on': 'Weiter',
  More: 'Mehr',
  'As a table': 'Als Tabelle',
  'Search …': 'Suchen …',
  'Remove {name}': '{name} entfernen',
  'Nothing found': 'Nichts gefunden',
  'Go to …': 'Gehe zu …',
  Pages: 'Seiten',
  Page: 'Seite',
  'Where this page is': 'Wo diese Seite ist',
  Menu: 'Menü',
  Optional: 'Freiwillig',
  'new': 'neu',
  'Opens Discord': 'Öffnet Discord',
  On: 'An',
  Off: 'Aus',
  'not set': 'nicht gesetzt',
  Close: 'Schließen',
  'Light or dark': 'Hell oder dunkel',
};

let language = 'en';

export function speak(locale: string): void {
  language = locale.split('-', 1)[0] ?? locale;
  document.documentElement.lang = locale;
}

export const locale = (): string => language;

export function t(text: string, values: Readonly<Record<string, string>> = {}): string {
  const said = language === 'de' ? (GERMAN[text] ?? text) : text;
  return said.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
