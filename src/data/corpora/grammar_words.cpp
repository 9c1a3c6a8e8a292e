#include "heed/data/corpora/grammar_words.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace heed {
namespace {

// english|plural|french|plural|gender|kind
constexpr std::string_view kNouns[] = {
    "man|men|homme|hommes|m|p",
    "woman|women|femme|femmes|f|p",
    "boy|boys|garçon|garçons|m|p",
    "girl|girls|fille|filles|f|p",
    "child|children|enfant|enfants|m|p",
    "friend|friends|ami|amis|m|p",
    "neighbour|neighbours|voisin|voisins|m|p",
    "doctor|doctors|médecin|médecins|m|p",
    "teacher|teachers|professeur|professeurs|m|p",
    "baker|bakers|boulanger|boulangers|m|p",
    "farmer|farmers|fermier|fermiers|m|p",
    "queen|queens|reine|reines|f|p",
    "king|kings|roi|rois|m|p",
    "sister|sisters|sœur|sœurs|f|p",
    "brother|brothers|frère|frères|m|p",
    "mother|mothers|mère|mères|f|p",
    "father|fathers|père|pères|m|p",
    "student|students|étudiant|étudiants|m|p",
    "singer|singers|chanteuse|chanteuses|f|p",
    "dancer|dancers|danseuse|danseuses|f|p",
    "painter|painters|peintre|peintres|m|p",
    "pupil|pupils|élève|élèves|m|p",
    "cat|cats|chat|chats|m|a",
    "dog|dogs|chien|chiens|m|a",
    "horse|horses|cheval|chevaux|m|a",
    "cow|cows|vache|vaches|f|a",
    "bird|birds|oiseau|oiseaux|m|a",
    "mouse|mice|souris|souris|f|a",
    "rabbit|rabbits|lapin|lapins|m|a",
    "sheep|sheep|mouton|moutons|m|a",
    "goat|goats|chèvre|chèvres|f|a",
    "bear|bears|ours|ours|m|a",
    "wolf|wolves|loup|loups|m|a",
    "duck|ducks|canard|canards|m|a",
    "hen|hens|poule|poules|f|a",
    "fox|foxes|renard|renards|m|a",
    "elephant|elephants|éléphant|éléphants|m|a",
    "apple|apples|pomme|pommes|f|f",
    "cake|cakes|gâteau|gâteaux|m|f",
    "egg|eggs|œuf|œufs|m|f",
    "orange|oranges|orange|oranges|f|f",
    "pear|pears|poire|poires|f|f",
    "soup|soups|soupe|soupes|f|f",
    "cheese|cheeses|fromage|fromages|m|f",
    "salad|salads|salade|salades|f|f",
    "carrot|carrots|carotte|carottes|f|f",
    "onion|onions|oignon|oignons|m|f",
    "fish|fish|poisson|poissons|m|f",
    "table|tables|table|tables|f|t",
    "chair|chairs|chaise|chaises|f|t",
    "bed|beds|lit|lits|m|t",
    "door|doors|porte|portes|f|t",
    "window|windows|fenêtre|fenêtres|f|t",
    "key|keys|clé|clés|f|t",
    "knife|knives|couteau|couteaux|m|t",
    "glass|glasses|verre|verres|m|t",
    "plate|plates|assiette|assiettes|f|t",
    "hat|hats|chapeau|chapeaux|m|t",
    "shirt|shirts|chemise|chemises|f|t",
    "shoe|shoes|chaussure|chaussures|f|t",
    "coat|coats|manteau|manteaux|m|t",
    "bag|bags|sac|sacs|m|t",
    "box|boxes|boîte|boîtes|f|t",
    "lamp|lamps|lampe|lampes|f|t",
    "watch|watches|montre|montres|f|t",
    "car|cars|voiture|voitures|f|t",
    "boat|boats|bateau|bateaux|m|t",
    "bicycle|bicycles|vélo|vélos|m|t",
    "flower|flowers|fleur|fleurs|f|t",
    "tree|trees|arbre|arbres|m|t",
    "stone|stones|pierre|pierres|f|t",
    "picture|pictures|tableau|tableaux|m|t",
    "guitar|guitars|guitare|guitares|f|t",
    "mirror|mirrors|miroir|miroirs|m|t",
    "umbrella|umbrellas|parapluie|parapluies|m|t",
    "book|books|livre|livres|m|r",
    "letter|letters|lettre|lettres|f|r",
    "newspaper|newspapers|journal|journaux|m|r",
    "story|stories|histoire|histoires|f|r",
    "poem|poems|poème|poèmes|m|r",
    "message|messages|message|messages|m|r",
    "house|houses|maison|maisons|f|l",
    "garden|gardens|jardin|jardins|m|l",
    "school|schools|école|écoles|f|l",
    "kitchen|kitchens|cuisine|cuisines|f|l",
    "room|rooms|chambre|chambres|f|l",
    "street|streets|rue|rues|f|l",
    "city|cities|ville|villes|f|l",
    "village|villages|village|villages|m|l",
    "forest|forests|forêt|forêts|f|l",
    "field|fields|champ|champs|m|l",
    "river|rivers|rivière|rivières|f|l",
    "bridge|bridges|pont|ponts|m|l",
    "market|markets|marché|marchés|m|l",
    "shop|shops|magasin|magasins|m|l",
    "station|stations|gare|gares|f|l",
    "church|churches|église|églises|f|l",
    "castle|castles|château|châteaux|m|l",
    "hotel|hotels|hôtel|hôtels|m|l",
    "island|islands|île|îles|f|l",
    "office|offices|bureau|bureaux|m|l",
    "theatre|theatres|théâtre|théâtres|m|l",
    "farm|farms|ferme|fermes|f|l",
};

// english|masculine|feminine|plurals|place|kinds
constexpr std::string_view kAdjectives[] = {
    "small|petit|petite|petits|petites|before|paftrl",
    "big|grand|grande|grands|grandes|before|paftrl",
    "beautiful|beau|belle|beaux|belles|before|patrl",
    "old|vieux|vieille|vieux|vieilles|before|patrl",
    "new|nouveau|nouvelle|nouveaux|nouvelles|before|ptrl",
    "young|jeune|jeune|jeunes|jeunes|before|pa",
    "good|bon|bonne|bons|bonnes|before|pafr",
    "bad|mauvais|mauvaise|mauvais|mauvaises|before|pfr",
    "pretty|joli|jolie|jolis|jolies|before|atrl",
    "long|long|longue|longs|longues|before|r",
    "red|rouge|rouge|rouges|rouges|after|ft",
    "blue|bleu|bleue|bleus|bleues|after|t",
    "green|vert|verte|verts|vertes|after|ft",
    "white|blanc|blanche|blancs|blanches|after|atl",
    "black|noir|noire|noirs|noires|after|at",
    "yellow|jaune|jaune|jaunes|jaunes|after|ft",
    "grey|gris|grise|gris|grises|after|atl",
    "happy|heureux|heureuse|heureux|heureuses|after|pa",
    "sad|triste|triste|tristes|tristes|after|pr",
    "tired|fatigué|fatiguée|fatigués|fatiguées|after|pa",
    "strong|fort|forte|forts|fortes|after|pa",
    "slow|lent|lente|lents|lentes|after|pa",
    "fast|rapide|rapide|rapides|rapides|after|pat",
    "quiet|calme|calme|calmes|calmes|after|pl",
    "hot|chaud|chaude|chauds|chaudes|after|f",
    "cold|froid|froide|froids|froides|after|fl",
    "heavy|lourd|lourde|lourds|lourdes|after|t",
    "light|léger|légère|légers|légères|after|t",
    "clean|propre|propre|propres|propres|after|tl",
    "dirty|sale|sale|sales|sales|after|tl",
    "dry|sec|sèche|secs|sèches|after|f",
    "clever|intelligent|intelligente|intelligents|intelligentes|after|pa",
    "strange|étrange|étrange|étranges|étranges|after|patrl",
    "famous|célèbre|célèbre|célèbres|célèbres|after|prl",
    "expensive|cher|chère|chers|chères|after|ft",
    "sweet|sucré|sucrée|sucrés|sucrées|after|f",
    "round|rond|ronde|ronds|rondes|after|t",
    "empty|vide|vide|vides|vides|after|tl",
    "open|ouvert|ouverte|ouverts|ouvertes|after|tl",
    "lazy|paresseux|paresseuse|paresseux|paresseuses|after|pa",
    "dangerous|dangereux|dangereuse|dangereux|dangereuses|after|al",
    "interesting|intéressant|intéressante|intéressants|intéressantes|after|rl",
    "wild|sauvage|sauvage|sauvages|sauvages|after|a",
    "polite|poli|polie|polis|polies|after|p",
};

// english|third|past|ing|preposition|french preposition|infinitive|je|il|nous|vous|ils|future|participle|auxiliary|
// subjects|objects
constexpr std::string_view kVerbs[] = {
    "sleep|sleeps|slept|sleeping|||dormir|dors|dort|dormons|dormez|dorment|dormir|dormi|avoir|pa|",
    "laugh|laughs|laughed|laughing|||rire|ris|rit|rions|riez|rient|rir|ri|avoir|p|",
    "cry|cries|cried|crying|||pleurer|pleure|pleure|pleurons|pleurez|pleurent|pleurer|pleuré|avoir|p|",
    "sing|sings|sang|singing|||chanter|chante|chante|chantons|chantez|chantent|chanter|chanté|avoir|pa|",
    "dance|dances|danced|dancing|||danser|danse|danse|dansons|dansez|dansent|danser|dansé|avoir|p|",
    "run|runs|ran|running|||courir|cours|court|courons|courez|courent|courr|couru|avoir|pa|",
    "swim|swims|swam|swimming|||nager|nage|nage|nageons|nagez|nagent|nager|nagé|avoir|pa|",
    "work|works|worked|working|||travailler|travaille|travaille|travaillons|travaillez|travaillent|travailler|"
    "travaillé|avoir|p|",
    "fall|falls|fell|falling|||tomber|tombe|tombe|tombons|tombez|tombent|tomber|tombé|être|pa|",
    "arrive|arrives|arrived|arriving|||arriver|arrive|arrive|arrivons|arrivez|arrivent|arriver|arrivé|être|pa|",
    "leave|leaves|left|leaving|||partir|pars|part|partons|partez|partent|partir|parti|être|pa|",
    "go|goes|went|going|to|à|aller|vais|va|allons|allez|vont|ir|allé|être|pa|l",
    "come|comes|came|coming|from|de|venir|viens|vient|venons|venez|viennent|viendr|venu|être|pa|l",
    "walk|walks|walked|walking|to|vers|marcher|marche|marche|marchons|marchez|marchent|marcher|marché|avoir|pa|l",
    "eat|eats|ate|eating|||manger|mange|mange|mangeons|mangez|mangent|manger|mangé|avoir|pa|f",
    "cook|cooks|cooked|cooking|||préparer|prépare|prépare|préparons|préparez|préparent|préparer|préparé|avoir|p|f",
    "buy|buys|bought|buying|||acheter|achète|achète|achetons|achetez|achètent|achèter|acheté|avoir|p|ftr",
    "sell|sells|sold|selling|||vendre|vends|vend|vendons|vendez|vendent|vendr|vendu|avoir|p|ft",
    "see|sees|saw|seeing|||voir|vois|voit|voyons|voyez|voient|verr|vu|avoir|pa|paftl",
    "find|finds|found|finding|||trouver|trouve|trouve|trouvons|trouvez|trouvent|trouver|trouvé|avoir|pa|paftrl",
    "love|loves|loved|loving|||aimer|aime|aime|aimons|aimez|aiment|aimer|aimé|avoir|p|paftrl",
    "hide|hides|hid|hiding|||cacher|cache|cache|cachons|cachez|cachent|cacher|caché|avoir|pa|ftr",
    "lose|loses|lost|losing|||perdre|perds|perd|perdons|perdez|perdent|perdr|perdu|avoir|p|tr",
    "take|takes|took|taking|||prendre|prends|prend|prenons|prenez|prennent|prendr|pris|avoir|p|ftr",
    "open|opens|opened|opening|||ouvrir|ouvre|ouvre|ouvrons|ouvrez|ouvrent|ouvrir|ouvert|avoir|p|tr",
    "close|closes|closed|closing|||fermer|ferme|ferme|fermons|fermez|ferment|fermer|fermé|avoir|p|t",
    "read|reads|read|reading|||lire|lis|lit|lisons|lisez|lisent|lir|lu|avoir|p|r",
    "write|writes|wrote|writing|||écrire|écris|écrit|écrivons|écrivez|écrivent|écrir|écrit|avoir|p|r",
    "send|sends|sent|sending|||envoyer|envoie|envoie|envoyons|envoyez|envoient|enverr|envoyé|avoir|p|tr",
    "know|knows|knew|knowing|||connaître|connais|connaît|connaissons|connaissez|connaissent|connaîtr|connu|avoir|p|prl",
    "help|helps|helped|helping|||aider|aide|aide|aidons|aidez|aident|aider|aidé|avoir|p|pa",
    "call|calls|called|calling|||appeler|appelle|appelle|appelons|appelez|appellent|appeller|appelé|avoir|p|pa",
    "follow|follows|followed|following|||suivre|suis|suit|suivons|suivez|suivent|suivr|suivi|avoir|pa|pa",
    "wash|washes|washed|washing|||laver|lave|lave|lavons|lavez|lavent|laver|lavé|avoir|p|aft",
    "carry|carries|carried|carrying|||porter|porte|porte|portons|portez|portent|porter|porté|avoir|pa|atr",
    "paint|paints|painted|painting|||peindre|peins|peint|peignons|peignez|peignent|peindr|peint|avoir|p|patl",
    "draw|draws|drew|drawing|||dessiner|dessine|dessine|dessinons|dessinez|dessinent|dessiner|dessiné|avoir|p|patl",
    "visit|visits|visited|visiting|||visiter|visite|visite|visitons|visitez|visitent|visiter|visité|avoir|p|l",
    "cross|crosses|crossed|crossing|||traverser|traverse|traverse|traversons|traversez|traversent|traverser|traversé|"
    "avoir|pa|l",
    "look|looks|looked|looking|at||regarder|regarde|regarde|regardons|regardez|regardent|regarder|regardé|avoir|pa|"
    "paftrl",
    "listen|listens|listened|listening|to||écouter|écoute|écoute|écoutons|écoutez|écoutent|écouter|écouté|avoir|pa|pa",
    "wait|waits|waited|waiting|for||attendre|attends|attend|attendons|attendez|attendent|attendr|attendu|avoir|pa|pa",
    "speak|speaks|spoke|speaking|to|à|parler|parle|parle|parlons|parlez|parlent|parler|parlé|avoir|p|pa",
    "dream|dreams|dreamed|dreaming|of|de|rêver|rêve|rêve|rêvons|rêvez|rêvent|rêver|rêvé|avoir|pa|paftl",
    "play|plays|played|playing|with|avec|jouer|joue|joue|jouons|jouez|jouent|jouer|joué|avoir|pa|pat",
};

std::vector<std::string> fields_of(std::string_view row) {
  std::vector<std::string> fields;
  for (std::size_t bar; (bar = row.find('|')) != std::string_view::npos; row.remove_prefix(bar + 1))
    fields.emplace_back(row.substr(0, bar));
  fields.emplace_back(row);
  return fields;
}

template <class Made, std::size_t count, class Make>
std::vector<Made> made(const std::string_view (&rows)[count], const Make& make) {
  std::vector<Made> all;
  std::transform(std::begin(rows), std::end(rows), std::back_inserter(all),
                 [&](std::string_view row) { return make(fields_of(row)); });
  return all;
}

}  // namespace

std::span<const GrammarNoun> grammar_nouns() {
  static const auto nouns = made<GrammarNoun>(kNouns, [](const std::vector<std::string>& row) {
    return GrammarNoun{row[0], row[1], row[2], row[3], row[4] == "f", row[5][0]};
  });
  return nouns;
}

std::span<const GrammarAdjective> grammar_adjectives() {
  static const auto adjectives = made<GrammarAdjective>(kAdjectives, [](const std::vector<std::string>& row) {
    return GrammarAdjective{row[0], {row[1], row[2], row[3], row[4]}, row[5] == "before", row[6]};
  });
  return adjectives;
}

std::span<const GrammarVerb> grammar_verbs() {
  static const auto verbs = made<GrammarVerb>(kVerbs, [](const std::vector<std::string>& row) {
    return GrammarVerb{row[0],
                       row[1],
                       row[2],
                       row[3],
                       row[4],
                       row[5],
                       row[6],
                       {row[7], row[8], row[9], row[10], row[11]},
                       row[12],
                       row[13],
                       row[14] == "être",
                       row[15],
                       row[16]};
  });
  return verbs;
}

}  // namespace heed
