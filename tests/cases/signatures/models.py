from pydantic import BaseModel, EmailStr, Field
import missing


class Address(BaseModel):
    """Where somebody lives."""

    street: str = Field(description="With its number.", min_length=1)
    city: str = "Paris"
    code: int = Field(alias="zip")


class Person(missing.Base):
    name: str


class Reader(Person, BaseModel):
    mail: EmailStr
    address: Address | None = None
    tags: list[str] = Field(default_factory=list, max_length=3)


def models(reader: Reader) -> Address:
    return reader.address
