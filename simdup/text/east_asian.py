"""Bytes into the name of an East Asian encoding, by the everyday characters they would spell.

Decoded by its own encoding, a text has mostly everyday characters; decoded by another one, it
has rare characters and bytes that mean nothing. So each encoding gets points, about the natural
logarithm of how much likelier it makes the bytes. `clear_encoding` names an encoding if the
points leave no doubt; `likelier_encoding` corrects a weak guess of chardet's.

Every character counts once, since a language repeats its characters, and so that a pair of
letters that happens to spell an everyday character, as in Polish, weighs little. Bytes that
cannot be decoded count each time.
"""

from __future__ import annotations

import codecs
from functools import cache
from math import exp, inf

import numpy as np
from numpy.typing import NDArray

# Commonest first: 600 by the frequencies in jieba's dictionary, and some from talk and letters.
_HAN = (
    "一是人了不在有大中国和为这上他个地年来我会以到时要出的生学说道民家子也成行下们于后就发自之"
    "对得主长可过天作分方用多你着部能市等业全里工公经本都而高政法面门动日进区事代那去心小同北定"
    "开产前其军还然起种所如现理机体表力好外与文当两实重新三么只山水关明从化平建又制南内西没此将"
    "员名手最东头者月间无安看见各城十相但已些正口通想度加第她合院物性战由位常点海意场武使次二向"
    "治因立数样身情入原问把路被并利石老教万知级量任江及应省资委务元美特期世湖回系比气汉总展电科"
    "金先声提品设或义王社很统处四首共马形己儿司太目基领队直计别女权话少流命至报米给打变果书清活"
    "几州华解议更称程今决张导术府才保交放管结师便走达族反再题色五京河接条规式县白它改风光运信受"
    "什组听布百济党指论强做取技黄神选记斯真却职号界件花类何眼兵传带空干农边据集联古广完质阳难增"
    "历史专官每住商即步认车台林必死游举线言皇土团收考求德叫近备研争非具李众连调感转笑革该持始英"
    "克士尔让拉思根格造较际亲单朝红型价校约器字段周亚深候则功属积快图火千准究往极育装许参半令吃"
    "观鱼精办像帝八复影告远群包整构料随划算象容示投势热值夫网望源息语股铁断派速怎需片爱律纪支早"
    "况病境证编越局推满且列觉服双未居除乐企引标确织初青志率项飞球节察龙响药站施均消客失轻存低甚"
    "般击曾防请离落显罗营足素视护副食创余照兴占巴虽洲村费易试星木黑左宝置跟央识维采六底宫房音环"
    "案批切斗富乡另倒若按查故突责严您吗呢吧啊谁妈爸爷奶姐妹错写买卖钱饭午晚昨坐睡拿喝茶换读页例"
    "注曰输"
)
# The traditional forms of characters in _HAN for which Taiwan and Hong Kong write another.
_TRADITIONAL = (
    "國為這個來會時學說們發對長過著業經門動進區開產軍還現當兩實關從內沒將員東頭間無見戰點場數樣"
    "問級應資務漢總電聲設義統處馬領隊計別權話報給變書華議稱決張導術結師達題條規縣風運組濟論強黃"
    "選記卻職號類傳帶農邊聯廣質陽難歷專認車舉線團備爭眾連調轉該爾讓較際親單紅約亞則屬積圖裝許參"
    "觀魚辦遠隨勢熱語鐵斷愛紀況證編滿覺雙樂標織項飛節龍響藥輕擊請顯羅營視護創興雖費試寶識維宮環"
    "鄉責嚴於麼錯檔輸訊寫買賣錢飯媽爺妳後裡隻係準臺幾種機體萬與氣並黨極價構嗎誰"
)
# The Japanese forms of characters in _HAN, and some of everyday use only in Japanese.
_JAPANESE = "気駅円売読聞発図実変対応関黒様帰楽歩毎込働残権済験単広険検総続転黙鉄県予雑択私僕彼処終"
# Syllables by code, which make up 95 % of Korean. With half of them (90 %) more short texts are
# misread.
_HANGUL = (
    "가각간갈감갑값강갖같개객거건걸검것게겠격견결경계고곡골곳공과관광교구국군굴권귀규그극근글금"
    "급기긴길김까깊깨꺼께꾸꿈끄끝끼나난날남납낮내낸너널넘넣네녀년노녹논놀농높놓누눈뉴느는늘능니"
    "님다단달담답당대더덕던덜데도독돈돌동되된될됩두둘뒤드득든들듯등디따딸때떠떤또뜨뜻라락란람랑"
    "래략량러런럼럽렇레려력련렬령례로록론료루류률르른를름리린림립링마막만많말맞맡매맥머먹먼메면"
    "명몇모목못무문물미민믿밀및바박반받발밝방배백버번벌범법벽변별병보복본볼봄봉부북분불붙브블비"
    "빈빛빠사산살삼상새색생서석선설성세션소속손송수순술숨스슬습승시식신실심십싶쌍써쓰쓸씨씩아악"
    "안않알암압앞애액야약양어억언얼엄업없었에여역연열염였영예오온올옮와완왔왕외요용우운움웃워원"
    "월위유육율으은을음응의이익인일임입있잊자작잔잘잠잡장재저적전절점접정제져졌조족존졸종좋좌죄"
    "주죽준줄중즈즉즐증지직진질집짓징짜쪽차착찬찰참창찾채책처척천철첫청체초촉총최추축출충취측층"
    "치친침칭카커컴케켜코콘크큰클키타탁탈태택터테템토통투트특틀티팀파판팔패퍼편평포폭표푸품풍프"
    "플피필하학한할함합항해했행향허험현형호혹화확환활황회획효후훈휴흐희히힘"
)
_KANA = "".join(map(chr, (*range(0x3041, 0x3094), *range(0x30A1, 0x30F7), 0x30FC)))
_PUNCTUATION = "、。，：；？！「」『』（）《》“”‘’…—～·・\u3000"

_CHINESE = frozenset(_HAN + _TRADITIONAL + _PUNCTUATION)
_OF_JAPAN = frozenset(_HAN + _TRADITIONAL + _JAPANESE + _KANA + _PUNCTUATION)
_OF_KOREA = frozenset(_HANGUL + _PUNCTUATION)

#: Python's codec -> everyday characters of its languages. All five encode kana, so kana are not
#: evidence of Chinese. The commonest codec is first: it alone often decides a long text.
EVERYDAY = {
    "gb18030": _CHINESE,
    "big5hkscs": _CHINESE,
    "cp932": _OF_JAPAN,
    "cp949": _OF_KOREA,
    "euc_jis_2004": _OF_JAPAN,
}

_LOST = "\ufffd"
_CODE_POINTS = 0x110000

# Of 330,000 beginnings of European, Russian, Arabic and Thai messages, 8 to 1,000 bytes long,
# none has this many points and such a lead, and 22 have 6 or 7 points. Of 29,000 East Asian
# beginnings, three reach both for a wrong encoding.
_LEAST_POINTS, _LEAST_LEAD = 8, 2
# No wrong encoding had more than 16.
_BEYOND_DOUBT = 30
# No Chinese text has fewer points, and most other texts do: Russian after 256 bytes, French after
# 1,024.
_HOPELESS = -10

# Bytes. At these sizes 94 and 97 % of East Asian files have 20 points or more.
_FEW, _MORE = 1 << 8, 1 << 10


def clear_encoding(data: bytes) -> tuple[str, float] | None:
    """The encoding that leads beyond doubt, and its confidence below 1; None if none does.

    Reads no further than it must: the first line or two decide most texts.
    """
    for size in (_FEW, _MORE, len(data)):
        scores = points(data[:size], _BEYOND_DOUBT)
        best = max(scores, key=scores.__getitem__)
        most = scores.pop(best)
        lead = most - max(scores.values(), default=0)
        if most >= _LEAST_POINTS and lead >= _LEAST_LEAD:
            return best, min(1 - exp(-lead), 0.99)
        if most <= _HOPELESS or size >= len(data):
            break
    return None


def likelier_encoding(data: bytes, guess: str | None) -> str | None:
    """The encoding that has clearly more points than the guess; the guess itself if none has.

    A guess of None, or of an encoding from elsewhere, has no points.
    """
    scores = points(data)
    best = max(scores, key=scores.__getitem__)
    return best if scores[best] - scores.get(guess or "", 0) >= _LEAST_LEAD else guess


def points(data: bytes, enough: float = inf) -> dict[str, int]:
    """The points of each encoding, up to the first that has `enough`.

    >>> points("今年的鱼比去年少了三成".encode("gbk"))["gb18030"]
    20
    """
    scores = {}
    for name, everyday in EVERYDAY.items():
        # An incremental decoder waits for the rest of a character cut at the end.
        text = codecs.getincrementaldecoder(name)("replace").decode(data)
        scores[name] = _points(text, _worth(everyday))
        if scores[name] >= enough:
            break
    return scores


@cache
def _worth(everyday: frozenset[str]) -> NDArray[np.int8]:
    """The points of each character, by code: 2 if it is everyday, -1 if not, 0 if it is ASCII."""
    worth = np.full(_CODE_POINTS, -1, np.int8)
    worth[:0x80] = worth[ord(_LOST)] = 0
    worth[list(map(ord, everyday))] = 2
    return worth


def _points(text: str, worth: NDArray[np.int8]) -> int:
    """The points of all distinct characters of a text, less 3 for each lost character.

    In 1,000 bytes of real texts, 40 to 100 % of the distinct characters are everyday ones if
    decoded by the right encoding (half of the texts: over 72 %), and 0 to 38 % by a wrong one.
    """
    codes = np.sort(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32))
    is_new = np.ones(len(codes), bool)
    np.not_equal(codes[1:], codes[:-1], out=is_new[1:])
    return int(worth[codes[is_new]].sum(dtype=np.int64)) - 3 * text.count(_LOST)
