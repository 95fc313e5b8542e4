type Options = Readonly<Record<string, readonly string[]>>

const COLOR = ['black', 'white', 'navy', 'olive', 'sand', 'rust', 'teal', 'plum']
const SIZE = ['XS', 'S', 'M', 'L', 'XL', 'XXL']
const SHOE = ['EU 36', 'EU 37', 'EU 38', 'EU 39', 'EU 40', 'EU 41', 'EU 42', 'EU 43', 'EU 44', 'EU 45']
const WOOD = ['oak', 'ash', 'walnut', 'beech', 'pine']
const METAL = ['steel', 'brass', 'copper', 'aluminium']

/** The types of products: name, price in the middle, and options. */
export const CATALOGUE: readonly (readonly [name: string, price: number, options: Options])[] = [
  ['Rain Jacket', 119, { color: COLOR, size: SIZE, lining: ['unlined', 'fleece'] }],
  ['Wool Sweater', 89, { color: COLOR, size: SIZE, neck: ['round', 'rolled'] }],
  ['Linen Shirt', 59, { color: COLOR, size: SIZE, sleeves: ['short', 'long'] }],
  ['Work Trousers', 74, { color: COLOR, size: SIZE, pockets: ['four', 'six'] }],
  ['Trail Shoes', 129, { color: COLOR, size: SHOE, sole: ['soft', 'firm'] }],
  ['Winter Boots', 159, { color: COLOR, size: SHOE, lining: ['wool', 'felt'] }],
  ['Felt Slippers', 34, { color: COLOR, size: SHOE }],
  ['Leather Belt', 39, { color: ['black', 'brown', 'tan'], length: ['90 cm', '100 cm', '110 cm'], buckle: METAL }],
  ['Travel Bag', 99, { color: COLOR, volume: ['30 l', '45 l', '60 l'], wheels: ['present', 'absent'] }],
  ['Day Pack', 69, { color: COLOR, volume: ['18 l', '22 l', '26 l'], pocket: ['laptop', 'mesh'] }],
  ['Bread Knife', 42, { handle: WOOD, blade: ['20 cm', '24 cm', '28 cm'], edge: ['fine', 'coarse'] }],
  ['Chopping Board', 36, { wood: WOOD, length: ['30 cm', '40 cm', '50 cm'], groove: ['present', 'absent'] }],
  [
    'Cast Iron Pan',
    58,
    { diameter: ['20 cm', '24 cm', '28 cm'], handle: ['iron', 'wood'], lid: ['present', 'absent'] },
  ],
  ['Stock Pot', 72, { volume: ['3 l', '5 l', '8 l'], metal: METAL, lid: ['glass', 'metal'] }],
  ['Tea Pot', 44, { color: COLOR, volume: ['0.6 l', '1 l', '1.4 l'], material: ['iron', 'clay', 'glass'] }],
  ['Pepper Mill', 31, { wood: WOOD, height: ['15 cm', '20 cm', '30 cm'], grinder: ['steel', 'ceramic'] }],
  ['Hand Mixer', 79, { color: COLOR, power: ['300 W', '450 W', '600 W'], bowl: ['included', 'extra'] }],
  ['Juice Press', 54, { color: COLOR, material: METAL, spout: ['short', 'long'] }],
  ['Kitchen Scale', 27, { color: COLOR, range: ['3 kg', '5 kg', '10 kg'], display: ['dial', 'digital'] }],
  ['Toaster', 64, { color: COLOR, slots: ['two', 'four'], rack: ['included', 'extra'] }],
  ['Reading Lamp', 83, { color: COLOR, arm: ['short', 'long'], light: ['warm', 'neutral'], base: ['clamp', 'foot'] }],
  ['Floor Lamp', 139, { shade: COLOR, stand: METAL, light: ['warm', 'neutral'] }],
  ['Wall Clock', 47, { color: COLOR, diameter: ['25 cm', '30 cm', '40 cm'], hands: ['thin', 'wide'] }],
  ['Picture Frame', 24, { wood: WOOD, format: ['A5', 'A4', 'A3', 'A2'], glass: ['clear', 'matt'] }],
  ['Bookshelf', 189, { wood: WOOD, height: ['90 cm', '140 cm', '190 cm'], back: ['open', 'solid'] }],
  ['Side Table', 124, { wood: WOOD, shape: ['round', 'square'], height: ['40 cm', '50 cm', '60 cm'] }],
  ['Writing Desk', 329, { wood: WOOD, width: ['100 cm', '120 cm', '140 cm'], drawers: ['two', 'three', 'four'] }],
  ['Swivel Chair', 249, { color: COLOR, armrests: ['fixed', 'folding'], base: METAL }],
  ['Bar Stool', 92, { wood: WOOD, height: ['65 cm', '75 cm'], seat: ['wood', 'fabric', 'leather'] }],
  ['Wool Blanket', 109, { color: COLOR, size: ['130 x 180 cm', '150 x 200 cm'], fringe: ['present', 'absent'] }],
  [
    'Bath Towel',
    22,
    { color: COLOR, size: ['50 x 100 cm', '70 x 140 cm', '100 x 150 cm'], weave: ['terry', 'waffle'] },
  ],
  [
    'Pillow',
    38,
    { filling: ['feather', 'wool', 'buckwheat'], size: ['40 x 60 cm', '40 x 80 cm'], height: ['low', 'high'] },
  ],
  ['Garden Shears', 33, { handle: WOOD, blade: ['steel', 'coated steel'], hand: ['left', 'right'] }],
  ['Watering Can', 29, { color: COLOR, volume: ['2 l', '5 l', '10 l'], rose: ['fine', 'coarse'] }],
  ['Flower Pot', 18, { color: COLOR, diameter: ['14 cm', '20 cm', '28 cm'], saucer: ['included', 'extra'] }],
  ['Camping Stove', 96, { burners: ['one', 'two'], fuel: ['gas', 'spirit', 'wood'], case: ['included', 'extra'] }],
  ['Sleeping Mat', 84, { color: COLOR, length: ['170 cm', '185 cm', '200 cm'], filling: ['foam', 'air'] }],
  ['Head Torch', 46, { color: COLOR, brightness: ['200 lm', '400 lm', '800 lm'], power: ['cells', 'rechargeable'] }],
  ['Bicycle Pump', 37, { color: COLOR, valve: ['car', 'sport', 'both'], gauge: ['included', 'extra'] }],
  ['Saddle Bag', 52, { color: COLOR, volume: ['1 l', '2 l', '6 l'], closure: ['strap', 'zip'] }],
  ['Chess Set', 87, { wood: WOOD, board: ['30 cm', '40 cm', '50 cm'], pieces: ['plain', 'weighted'] }],
  [
    'Jigsaw Puzzle',
    26,
    { pieces: ['500 pieces', '1,000 pieces', '2,000 pieces'], picture: ['harbour', 'forest', 'skyline', 'map'] },
  ],
  [
    'Water Colours',
    41,
    { colors: ['12 colors', '24 colors', '36 colors'], form: ['pans', 'tubes'], box: ['metal', 'wood'] },
  ],
  ['Sketch Book', 16, { format: ['A6', 'A5', 'A4', 'A3'], paper: ['smooth', 'rough'], binding: ['spiral', 'sewn'] }],
  ['Fountain Pen', 76, { color: COLOR, nib: ['fine', 'medium', 'broad'], metal: METAL }],
  ['Record Player', 279, { color: COLOR, drive: ['belt', 'direct'], needle: ['round', 'elliptical'] }],
  ['Kitchen Radio', 94, { color: COLOR, reception: ['FM', 'FM and DAB'], power: ['mains', 'mains and battery'] }],
  ['Desk Fan', 57, { color: COLOR, speeds: ['two', 'three', 'five'], timer: ['included', 'extra'] }],
]

export const FIRST_NAMES =
  `Ada Agnes Alma Amir Anders Anton Aria Astrid Bela Bruno Carla Cecil Chidi Clara Daria Dario Edith Elif
Emil Enzo Esther Farid Felix Fiona Gilda Greta Hana Hugo Ida Igor Ingrid Ivo Jada Jonas Juno Kaya Kenji Lars Leila Lena
Linus Livia Lorenz Magda Malik Marta Milo Mina Nadia Nils Nora Odin Olga Oskar Paula Pavel Petra Quinn Rafael Rana Remy
Rosa Ruben Sami Selma Silas Sonja Tarek Tilda Timo Ursula Vera Viktor Wanda Xenia Yara Yusra Zeno`.split(/\s/)

export const LAST_NAMES =
  `Abel Adler Akin Alder Amsel Barros Becker Berg Bianco Birch Bloom Brandt Castro Cerny Conti Costa Dahl
Demir Dietz Dorn Duarte Eide Engel Faber Falk Ferri Fink Fuchs Gallo Garnier Graf Gruber Haas Hahn Holm Horvat Ionescu Jansen
Jensen Kaplan Keller Kern Klein Kovac Kraus Lang Leclerc Lind Lorenz Lund Marek Marin Mertens Moretti Nagy Neri Novak Okafor
Olsen Osei Pavlov Pereira Petrov Prado Quist Rasch Reyes Ricci Roth Ruiz Salo Sand Santoro Schmid Seidel Silva Sommer Sorel
Stark Stein Tamm Thorn Toth Udo Vidal Virtanen Voss Weber Winter Wolf Yilmaz Ziegler Zorn`.split(/\s/)

export const STREETS =
  `Alder Amber Anchor Apple Aspen Baker Barley Beacon Birch Bridge Canal Castle Cedar Chapel Cherry Clover
Copper Dune Elder Ferry Field Forge Garden Grange Harbour Hazel Heron Holly Juniper Kestrel Lantern Laurel Linden Maple Market
Meadow Mill Mulberry Orchard Otter Pearl Pepper Poplar Quarry Raven Ridge Saddler Sage Spruce Station Tanner Thistle Tower
Valley Walnut Weaver Willow Yarrow`.split(/\s/)

export const CITIES: readonly (readonly [city: string, state: string, zip: number])[] = [
  ['Albany', 'NY', 122],
  ['Boise', 'ID', 837],
  ['Boulder', 'CO', 803],
  ['Duluth', 'MN', 558],
  ['Eugene', 'OR', 974],
  ['Fargo', 'ND', 581],
  ['Flagstaff', 'AZ', 860],
  ['Juneau', 'AK', 998],
  ['Knoxville', 'TN', 379],
  ['Lincoln', 'NE', 685],
  ['Madison', 'WI', 537],
  ['Missoula', 'MT', 598],
  ['Portland', 'ME', 41],
  ['Provo', 'UT', 846],
  ['Salem', 'OR', 973],
  ['Santa Fe', 'NM', 875],
  ['Savannah', 'GA', 314],
  ['Tulsa', 'OK', 741],
]
